package outbound

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// Event is a server-sent event as received, with the empty line that ends it.
type Event []byte

// Lines yields the lines without their ends.
func (e Event) Lines() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(e) {
			if !yield(bytes.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

// Data returns the data of the event: its data lines, each with a newline.
func (e Event) Data() []byte {
	var data []byte
	for line := range e.Lines() {
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		}
	}
	return data
}

// EventReader splits a stream into server-sent events of bounded size.
type EventReader struct {
	in       *bufio.Reader
	limit    int
	tooLarge error
}

// NewEventReader reads events of at most limit bytes; a larger one fails with tooLarge.
func NewEventReader(in io.Reader, limit int, tooLarge error) *EventReader {
	return &EventReader{bufio.NewReader(in), limit, tooLarge}
}

// Next returns the next event. With an error, such as io.EOF, it returns the rest of the stream
// after the last whole event.
func (r *EventReader) Next() (Event, error) {
	var e Event
	start := 0 // of the current line
	for {
		piece, err := r.in.ReadSlice('\n')
		e = append(e, piece...)
		switch {
		case len(e) > r.limit:
			return nil, r.tooLarge
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil || len(bytes.TrimRight(e[start:], "\r\n")) == 0:
			return e, err
		}
		start = len(e)
	}
}

// EventLimit bounds the events of a stream that another package decodes.
type EventLimit struct {
	Max         int
	event, line int // bytes since the last empty line, and of the current line
}

// Exceeded counts bytes that were read and reports whether an event is larger than Max.
func (l *EventLimit) Exceeded(p []byte) bool {
	for line := range bytes.Lines(p) {
		l.event += len(line)
		l.line += len(bytes.TrimRight(line, "\r\n"))
		if l.event > l.Max {
			return true
		}
		if line[len(line)-1] != '\n' {
			break
		}
		if l.line == 0 {
			l.event = 0
		}
		l.line = 0
	}
	return false
}
