package filesystem

import (
	"bytes"
	"context"
	"io"
	"slices"
)

// query is what a scanner looks for. Scanners share it.
type query struct {
	pattern  *expression
	needed   needle // everything that matches contains it
	context  int    // lines to show before and after a match
	lineSize int    // how much of a line is looked at
}

// scanner finds matching lines in files, one file after another. It holds one
// buffer however large they are, and is for one goroutine.
type scanner struct {
	*query
	ctx     context.Context
	buffer  []byte
	matches []*match
	share   share

	file     string
	line     int
	before   []string // the last lines, some more than context
	held     int      // size of before
	pending  []*match // want lines after them
	done     bool     // no more matches, only lines after the last
	full     bool     // no more lines either
	overlong bool     // the beginning of the current line has been looked at
}

const (
	contextSize = 1 << 20 // most that the lines before a match may hold
	lineCost    = 16      // what a line of context takes beside its text
)

func newScanner(ctx context.Context, q *query) *scanner {
	return &scanner{query: q, ctx: ctx, buffer: make([]byte, q.lineSize)}
}

// scan looks through one file, called name in what it finds, until there is
// enough by its share. Matches are in s.matches until the next call, and done is
// set when there may be more. Binary files have no lines.
func (s *scanner) scan(name string, file io.Reader, share share) error {
	*s = scanner{query: s.query, ctx: s.ctx, buffer: s.buffer, file: name, share: share}
	s.spend(0, 0)
	filled, first := 0, true
	for {
		n, err := readMost(file, s.buffer[filled:])
		filled += n
		if err != nil && err != io.EOF {
			return err
		}
		if first && bytes.IndexByte(s.buffer[:min(filled, sniffed)], 0) >= 0 {
			return nil
		}
		first = false
		used := s.block(s.buffer[:filled], err == io.EOF)
		if err == io.EOF || s.done && len(s.pending) == 0 {
			return s.ctx.Err()
		}
		filled = copy(s.buffer, s.buffer[used:filled])
		if err := s.ctx.Err(); err != nil {
			return err
		}
	}
}

// readMost fills p, or returns io.EOF with what is left.
func readMost(file io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var more int
		more, err = file.Read(p[n:])
		n += more
	}
	return n, err
}

// block looks at the whole lines of data, and at its rest when that is the last
// or fills the buffer. It returns how much it has dealt with.
func (s *scanner) block(data []byte, last bool) int {
	end := bytes.LastIndexByte(data, '\n') + 1
	if last || end == 0 {
		end = len(data)
	}
	lines := data[:end]
	ended := last || bytes.HasSuffix(lines, []byte("\n"))
	if s.context == 0 && !s.overlong && ended && !s.needed.in(lines) {
		s.line += bytes.Count(lines, []byte("\n"))
		return end
	}
	for len(lines) > 0 && !(s.done && len(s.pending) == 0) {
		line, rest, whole := bytes.Cut(lines, []byte("\n"))
		s.look(line)
		s.overlong = !whole
		lines = rest
	}
	return end
}

func (s *scanner) look(line []byte) {
	if s.overlong {
		return
	}
	s.line++
	line = bytes.TrimSuffix(line, []byte("\r"))
	s.feed(line)
	if !s.done && s.needed.in(line) && s.pattern.match(s.ctx, line) {
		s.hit(line)
	}
	if s.context > 0 {
		s.remember(line)
	}
}

// feed gives a line to the matches before it that still want lines.
func (s *scanner) feed(line []byte) {
	if len(s.pending) == 0 {
		return
	}
	waiting, text := s.pending[:0], string(line)
	for _, m := range s.pending {
		if s.full {
			break
		}
		m.ContextAfter = append(m.ContextAfter, text)
		m.size += int64(len(text) + lineCost)
		if s.spend(len(text)+lineCost, 0); len(m.ContextAfter) < s.context {
			waiting = append(waiting, m)
		}
	}
	s.pending = waiting
	if s.full {
		s.pending = nil
	}
}

func (s *scanner) hit(line []byte) {
	before := s.tail()
	size := len(line) + sizeOf(before)
	m := &match{File: s.file, LineNumber: s.line, LineContent: string(line), ContextBefore: before, size: int64(size)}
	s.matches = append(s.matches, m)
	if s.spend(size, 1); s.context > 0 && !s.full {
		s.pending = append(s.pending, m)
	}
}

// spend counts what is returned; when there is no more room for any, the search
// is done.
func (s *scanner) spend(bytes, matches int) {
	full, done := s.share.spend(bytes, matches)
	s.full, s.done = s.full || full, s.done || done
}

// remember keeps a line for the matches after it. What matches hold is never
// written to again.
func (s *scanner) remember(line []byte) {
	if len(s.before) > 2*s.context+64 || s.held > 2*contextSize {
		s.before = slices.Clone(s.tail())
		s.held = sizeOf(s.before)
	}
	s.before = append(s.before, string(line))
	s.held += len(line) + lineCost
}

// tail are the lines that a match would show before it.
func (s *scanner) tail() []string {
	first, size := len(s.before), 0
	for first > max(0, len(s.before)-s.context) {
		if size += len(s.before[first-1]) + lineCost; size > contextSize {
			break
		}
		first--
	}
	return s.before[first:]
}

func sizeOf(lines []string) (n int) {
	for _, line := range lines {
		n += len(line) + lineCost
	}
	return n
}
