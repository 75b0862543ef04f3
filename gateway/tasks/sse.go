package tasks

import (
	"bytes"
	"context"
	"encoding/json"
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

// sse writes a stream of events. Nothing is sent before the first of them, or the
// first sign of life: until then the reply may still be an error.
type sse struct {
	w       http.ResponseWriter
	rc      *http.ResponseController
	begun   bool
	closing context.Context
}

func newSSE(w http.ResponseWriter, closing context.Context) *sse {
	return &sse{w: w, rc: http.NewResponseController(w), closing: closing}
}

// begin sends the headers. The server's own limits are for requests that end.
func (s *sse) begin() error {
	if s.begun {
		return nil
	}
	s.begun = true
	_ = s.rc.SetReadDeadline(time.Time{}) // not every ResponseWriter has one
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	return s.rc.Flush()
}

// send writes an event. data is JSON on one line.
func (s *sse) send(id string, data json.RawMessage) error {
	var b bytes.Buffer
	if id != "" && !strings.ContainsAny(id, "\r\n\x00") {
		b.WriteString("id: " + id + "\n")
	}
	b.WriteString("data: ")
	b.Write(data)
	b.WriteString("\n\n")
	return s.write(b.Bytes())
}

func (s *sse) keepAlive() error { return s.write([]byte(": keep-alive\n\n")) }

func (s *sse) write(data []byte) error {
	if err := s.begin(); err != nil {
		return err
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(s.patience()))
	if _, err := s.w.Write(data); err != nil {
		return err
	}
	return s.rc.Flush()
}

func (s *sse) patience() time.Duration {
	if s.closing.Err() != nil {
		return closingTimeout
	}
	return writeTimeout
}

// hurry keeps a client that does not read from holding up a server that closes.
func (s *sse) hurry() (stop func() bool) {
	return context.AfterFunc(s.closing, func() { _ = s.rc.SetWriteDeadline(time.Now().Add(closingTimeout)) })
}
