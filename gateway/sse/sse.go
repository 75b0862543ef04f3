package sse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// How long a client may take to accept a write, in general and while the server closes.
const (
	writeTimeout   = 30 * time.Second
	closingTimeout = time.Second
)

// Writer writes a stream of events. It sends the headers with the first event or keep-alive;
// until then the reply may still become an error.
type Writer struct {
	// Type is the Content-Type, text/event-stream by default.
	Type string

	w           http.ResponseWriter
	rc          *http.ResponseController
	status      int
	headersSent bool
	closing     context.Context
}

// New returns a Writer for a reply with a status. When closing is done, clients have less
// time to read.
func New(w http.ResponseWriter, status int, closing context.Context) *Writer {
	return &Writer{Type: "text/event-stream", w: w, rc: http.NewResponseController(wrapped(w)), status: status, closing: closing}
}

// wrapped returns the ResponseWriter inside w, if there is one. Echo's hides the errors of
// Flush.
func wrapped(w http.ResponseWriter) http.ResponseWriter {
	if outer, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
		return outer.Unwrap()
	}
	return w
}

// HeadersSent reports whether the headers have been sent.
func (s *Writer) HeadersSent() bool { return s.headersSent }

// Begin sends the headers. It removes the server's read deadline, which is meant for requests
// that end.
func (s *Writer) Begin() error {
	if s.headersSent {
		return nil
	}
	s.headersSent = true
	_ = s.rc.SetReadDeadline(time.Time{}) // not every ResponseWriter supports it
	h := s.w.Header()
	h.Set("Content-Type", s.Type)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(s.status)
	return s.rc.Flush()
}

// AppendHead begins an event with its ID, if that fits on a line, and the name of the data
// field. The caller appends the data on one line and an empty line.
func AppendHead(b *bytes.Buffer, id string) {
	if id != "" && !strings.ContainsAny(id, "\r\n\x00") {
		b.WriteString("id: " + id + "\n")
	}
	b.WriteString("data: ")
}

// Encode returns a value as JSON on one line, without its end. HTML is not escaped.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode an event: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Send writes an event. data must be a single line.
func (s *Writer) Send(id string, data []byte) error {
	var b bytes.Buffer
	AppendHead(&b, id)
	b.Write(data)
	b.WriteString("\n\n")
	return s.Write(b.Bytes())
}

// KeepAlive writes a comment, which clients ignore.
func (s *Writer) KeepAlive() error { return s.Write([]byte(": keep-alive\n\n")) }

// Write writes complete events.
func (s *Writer) Write(events []byte) error {
	if err := s.Begin(); err != nil {
		return err
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(s.timeout()))
	if _, err := s.w.Write(events); err != nil {
		return err
	}
	return s.rc.Flush()
}

func (s *Writer) timeout() time.Duration {
	if s.closing.Err() != nil {
		return closingTimeout
	}
	return writeTimeout
}

// HurryOnClose shortens the write deadline when the server closes, so that a client that does
// not read cannot hold it up.
func (s *Writer) HurryOnClose() (stop func() bool) {
	return context.AfterFunc(s.closing, func() { _ = s.rc.SetWriteDeadline(time.Now().Add(closingTimeout)) })
}
