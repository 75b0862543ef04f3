package filesystem

import (
	"bufio"
	"bytes"
	"context"
	"io"
)

const (
	contextSize = 1 << 20 // most that the lines before a match may hold
	lineCost    = 16      // what a line of context takes beside its text
)

// query is what a scanner looks for.
type query struct {
	pattern  *expression
	needed   needle // everything that matches contains it
	context  int    // lines to show before and after a match
	lineSize int    // how much of a line is looked at
}

// limits are what may still be returned.
type limits struct {
	matches int
	room    int64 // bytes of text
}

func (l limits) reached() bool { return l.matches <= 0 || l.room <= 0 }

// scanner finds matching lines in files, one file after another. It holds one
// buffer however large they are, and is for one goroutine.
type scanner struct {
	query
	limits
	ctx    context.Context
	buffer []byte
	found  []match

	name    string
	line    int
	cut     bool     // the rest of the current line is passed over
	before  []string // the last lines
	held    int      // cost of before
	waiting int      // the first match that may want lines after it
}

// scan looks for lines in one file, called name in what it finds, until the limits
// are reached.
func (s *scanner) scan(name string, file io.Reader) error {
	s.name, s.line, s.cut, s.before, s.held, s.waiting = name, 0, false, nil, 0, len(s.found)
	lines := bufio.NewScanner(file)
	lines.Buffer(s.buffer, len(s.buffer))
	lines.Split(s.split)
	for !s.done() && lines.Scan() {
		s.look(bytes.TrimSuffix(lines.Bytes(), []byte("\r")))
	}
	return lines.Err()
}

// done reports whether there are no more matches to return, nor lines after them.
func (s *scanner) done() bool {
	return s.room <= 0 || s.matches <= 0 && s.line >= s.found[len(s.found)-1].LineNumber+s.context
}

// split is a [bufio.SplitFunc] that cuts lines to the buffer. Without context it
// passes over the lines that cannot match.
func (s *scanner) split(data []byte, last bool) (int, []byte, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, nil, err
	}
	start := 0
	if s.cut {
		if start = bytes.IndexByte(data, '\n') + 1; start == 0 {
			return len(data), nil, nil
		}
		s.cut = false
	}
	if s.context == 0 {
		start += s.skip(data[start:])
	}
	line, _, whole := bytes.Cut(data[start:], []byte("\n"))
	s.cut = !whole && start == 0 && len(data) == len(s.buffer)
	switch {
	case whole:
		s.line++
		return start + len(line) + 1, line, nil
	case s.cut, last && len(line) > 0:
		s.line++
		return len(data), line, nil
	}
	return start, nil, nil
}

// skip counts the lines of data before the first that holds the needle, and
// returns how long they are.
func (s *scanner) skip(data []byte) int {
	at := s.needed.index(data)
	if at < 0 {
		at = len(data)
	}
	start := bytes.LastIndexByte(data[:at], '\n') + 1
	s.line += bytes.Count(data[:start], []byte("\n"))
	return start
}

func (s *scanner) look(line []byte) {
	s.feed(line)
	if !s.reached() && s.needed.index(line) >= 0 && s.pattern.match(s.ctx, line) {
		s.found = append(s.found, match{File: s.name, LineNumber: s.line, LineContent: string(line), ContextBefore: s.before})
		s.matches--
		s.spend(len(s.found)-1, len(line)+s.held)
	}
	if s.context > 0 {
		s.remember(line)
	}
}

// feed gives a line to the matches before it that still want lines.
func (s *scanner) feed(line []byte) {
	for s.waiting < len(s.found) && s.line > s.found[s.waiting].LineNumber+s.context {
		s.waiting++
	}
	if s.waiting == len(s.found) {
		return
	}
	text := string(line)
	for i := s.waiting; i < len(s.found) && s.room > 0; i++ {
		s.found[i].ContextAfter = append(s.found[i].ContextAfter, text)
		s.spend(i, len(text)+lineCost)
	}
}

// spend notes the size of what is returned with a match.
func (s *scanner) spend(match, bytes int) {
	s.found[match].size += int64(bytes)
	s.room -= int64(bytes)
}

// remember keeps a line for the matches after it. What matches hold is never
// written to again: before only grows at its end, or moves.
func (s *scanner) remember(line []byte) {
	s.before = append(s.before, string(line))
	s.held += len(line) + lineCost
	for len(s.before) > s.context || s.held > contextSize {
		s.held -= len(s.before[0]) + lineCost
		s.before = s.before[1:]
	}
}
