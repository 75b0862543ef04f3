package filesystem

import (
	"bufio"
	"bytes"
	"context"
	"io"
)

const (
	contextSize = 1 << 20 // maximum size of the lines before a match
	lineCost    = 16      // overhead of a line of context in memory
)

// query is the search criterion of a scanner.
type query struct {
	pattern  *expression
	needed   needle // every match contains it
	context  int    // lines to show before and after a match
	lineSize int    // length up to which a line is searched
}

// limits are the remaining limits of the result.
type limits struct {
	matches int
	room    int64 // bytes of text
}

func (l limits) reached() bool { return l.matches <= 0 || l.room <= 0 }

// scanner finds matching lines in files, one file after another. It uses one buffer,
// independent of the size of the files. It must not be used concurrently.
type scanner struct {
	query
	limits
	ctx    context.Context
	buffer []byte
	found  []match

	name       string
	line       int
	skipRest   bool     // the rest of the current line is skipped
	before     []string // the last lines, for the context before a match
	beforeSize int      // size of before, with overhead
	firstOpen  int      // index of the first match that may need more lines after it
}

// scan searches one file until the limits are reached. name is the file's name in the matches.
func (s *scanner) scan(name string, file io.Reader) error {
	s.name, s.line, s.skipRest, s.before, s.beforeSize, s.firstOpen = name, 0, false, nil, 0, len(s.found)
	lines := bufio.NewScanner(file)
	lines.Buffer(s.buffer, len(s.buffer))
	lines.Split(s.split)
	for !s.done() && lines.Scan() {
		s.look(bytes.TrimSuffix(lines.Bytes(), []byte("\r")))
	}
	return lines.Err()
}

// done reports whether no further match or context line is needed.
func (s *scanner) done() bool {
	return s.room <= 0 || s.matches <= 0 && s.line >= s.found[len(s.found)-1].LineNumber+s.context
}

// split is a [bufio.SplitFunc] that shortens lines to the size of the buffer. Without context
// it skips the lines that cannot match.
func (s *scanner) split(data []byte, last bool) (int, []byte, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, nil, err
	}
	start := 0
	if s.skipRest {
		if start = bytes.IndexByte(data, '\n') + 1; start == 0 {
			return len(data), nil, nil
		}
		s.skipRest = false
	}
	if s.context == 0 {
		start += s.skip(data[start:])
	}
	line, _, whole := bytes.Cut(data[start:], []byte("\n"))
	s.skipRest = !whole && start == 0 && len(data) == len(s.buffer)
	switch {
	case whole:
		s.line++
		return start + len(line) + 1, line, nil
	case s.skipRest, last && len(line) > 0:
		s.line++
		return len(data), line, nil
	}
	return start, nil, nil
}

// skip counts the lines of data before the first line with the needle, and returns their
// length.
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
		s.spend(len(s.found)-1, len(line)+s.beforeSize)
	}
	if s.context > 0 {
		s.remember(line)
	}
}

// feed adds a line to the previous matches that need more lines of context.
func (s *scanner) feed(line []byte) {
	for s.firstOpen < len(s.found) && s.line > s.found[s.firstOpen].LineNumber+s.context {
		s.firstOpen++
	}
	if s.firstOpen == len(s.found) {
		return
	}
	text := string(line)
	for i := s.firstOpen; i < len(s.found) && s.room > 0; i++ {
		s.found[i].ContextAfter = append(s.found[i].ContextAfter, text)
		s.spend(i, len(text)+lineCost)
	}
}

// spend adds to the size of a match and subtracts it from the remaining room.
func (s *scanner) spend(match, bytes int) {
	s.found[match].size += int64(bytes)
	s.room -= int64(bytes)
}

// remember stores a line as context for later matches. Slices held by matches are never
// overwritten: before is only appended to or moved.
func (s *scanner) remember(line []byte) {
	s.before = append(s.before, string(line))
	s.beforeSize += len(line) + lineCost
	for len(s.before) > s.context || s.beforeSize > contextSize {
		s.beforeSize -= len(s.before[0]) + lineCost
		s.before = s.before[1:]
	}
}
