// Package sse writes streams of server-sent events, for every protocol that has some.
package sse

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"
)

// How long a client may take to accept what is written to it, and how long while
// the server closes.
const (
	writeTimeout   = 30 * time.Second
	closingTimeout = time.Second
)

// Writer writes a stream of events. Nothing is sent before the first of them, or the
// first sign of life: until then the reply may still be an error.
type Writer struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	status  int
	begun   bool
	closing context.Context
}

// New makes a Writer of a reply with a status. Clients are given less time when closing has
// ended.
func New(w http.ResponseWriter, status int, closing context.Context) *Writer {
	return &Writer{w: w, rc: http.NewResponseController(wrapped(w)), status: status, closing: closing}
}

// wrapped is the writer below w, if there is one: that of Echo does not tell of errors when it
// flushes.
func wrapped(w http.ResponseWriter) http.ResponseWriter {
	if outer, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
		return outer.Unwrap()
	}
	return w
}

// Begun reports whether the headers have been sent.
func (s *Writer) Begun() bool { return s.begun }

// Begin sends the headers. The server's own limits are for requests that end.
func (s *Writer) Begin() error {
	if s.begun {
		return nil
	}
	s.begun = true
	_ = s.rc.SetReadDeadline(time.Time{}) // not every ResponseWriter has one
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(s.status)
	return s.rc.Flush()
}

// AppendHead begins an event: its ID, if it has one that is fit for it, and the name of its
// data. Data on one line and an empty line must follow.
func AppendHead(b *bytes.Buffer, id string) {
	if id != "" && !strings.ContainsAny(id, "\r\n\x00") {
		b.WriteString("id: " + id + "\n")
	}
	b.WriteString("data: ")
}

// Send writes an event. data is on one line.
func (s *Writer) Send(id string, data []byte) error {
	var b bytes.Buffer
	AppendHead(&b, id)
	b.Write(data)
	b.WriteString("\n\n")
	return s.Write(b.Bytes())
}

// KeepAlive writes a sign of life, which clients do not see.
func (s *Writer) KeepAlive() error { return s.Write([]byte(": keep-alive\n\n")) }

// Write writes whole events.
func (s *Writer) Write(events []byte) error {
	if err := s.Begin(); err != nil {
		return err
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(s.patience()))
	if _, err := s.w.Write(events); err != nil {
		return err
	}
	return s.rc.Flush()
}

func (s *Writer) patience() time.Duration {
	if s.closing.Err() != nil {
		return closingTimeout
	}
	return writeTimeout
}

// HurryOnClose keeps a client that does not read from holding up a server that closes.
func (s *Writer) HurryOnClose() (stop func() bool) {
	return context.AfterFunc(s.closing, func() { _ = s.rc.SetWriteDeadline(time.Now().Add(closingTimeout)) })
}
