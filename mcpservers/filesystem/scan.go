package filesystem

import (
	"bytes"
	"context"
	"io"
	"regexp"
	"slices"
)

// query is what a scanner looks for. Scanners share it.
type query struct {
	pattern  *regexp.Regexp
	needed   needle // everything that matches contains it
	context  int    // lines to show before and after a match
	max      int    // matches
	lineSize int    // how much of a line is looked at
}

// scanner finds matching lines in files, one file after another. It holds one
// buffer however large they are, and is for one goroutine.
type scanner struct {
	*query
	ctx     context.Context
	buffer  []byte
	matches []*match
	room    int64 // bytes of text that may still be returned

	file     string
	line     int
	before   []string // the last lines, some more than context
	pending  []*match // want lines after them
	done     bool     // no more matches, only lines after the last
	overlong bool     // the beginning of the current line has been looked at
}

func newScanner(ctx context.Context, q *query) *scanner {
	return &scanner{query: q, ctx: ctx, buffer: make([]byte, q.lineSize)}
}

// scan looks through one file, called name in what it finds, for max matches
// with room bytes of text. They are in s.matches until the next call, and done
// is set when there may be more. Binary files have no lines.
func (s *scanner) scan(name string, file io.Reader, room int64) error {
	*s = scanner{query: s.query, ctx: s.ctx, buffer: s.buffer, file: name, room: room}
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
	if !s.done && s.needed.in(line) && s.pattern.Match(line) {
		s.hit(line)
	}
	if s.context > 0 {
		s.remember(line)
	}
}

// feed gives a line to the matches before it that still want lines.
func (s *scanner) feed(line []byte) {
	waiting := s.pending[:0]
	for _, m := range s.pending {
		m.ContextAfter = append(m.ContextAfter, string(line))
		if s.spend(len(line)); len(m.ContextAfter) < s.context && s.room > 0 {
			waiting = append(waiting, m)
		}
	}
	s.pending = waiting
}

func (s *scanner) hit(line []byte) {
	before := s.before[max(0, len(s.before)-s.context):]
	for _, text := range before {
		s.spend(len(text))
	}
	s.spend(len(line))
	m := &match{File: s.file, LineNumber: s.line, LineContent: string(line), ContextBefore: before}
	s.matches = append(s.matches, m)
	s.done = s.done || len(s.matches) >= s.max
	if s.context > 0 {
		s.pending = append(s.pending, m)
	}
}

// spend counts text that is returned; when there is no more room for any, the
// search is done.
func (s *scanner) spend(n int) {
	s.room -= int64(n)
	s.done = s.done || s.room <= 0
}

// remember keeps a line for the matches after it. What matches hold is never
// written to again.
func (s *scanner) remember(line []byte) {
	if len(s.before) > 2*s.context+64 {
		s.before = slices.Clone(s.before[len(s.before)-s.context:])
	}
	s.before = append(s.before, string(line))
}
