package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/agui"
)

const typeEvents = "text/event-stream"

// How long a client may take to accept what is written to it, and how long while
// the gateway closes.
const (
	writeTimeout   = 30 * time.Second
	closingTimeout = time.Second
)

// wantsEvents reports whether the caller would rather have events than JSON.
func wantsEvents(c echo.Context) bool { return prefers(c, typeEvents) }

// prefers reports whether the caller names a media type, and JSON not before it.
func prefers(c echo.Context, wanted string) bool {
	most, plain := 0.0, 0.0
	for _, header := range c.Request().Header.Values("Accept") {
		for _, offer := range strings.Split(header, ",") {
			switch kind, q := quality(offer); kind {
			case wanted:
				most = max(most, q)
			case "application/json":
				plain = max(plain, q)
			}
		}
	}
	return most > 0 && most >= plain
}

func quality(offer string) (kind string, q float64) {
	kind, params, err := mime.ParseMediaType(offer)
	if err != nil {
		return "", 0
	}
	if q, err = strconv.ParseFloat(params["q"], 64); err != nil {
		q = 1
	}
	return kind, q
}

// sse writes a stream of events. Nothing is sent before the first of them, or the
// first sign of life: until then the reply may still be an error.
type sse struct {
	c       echo.Context
	rc      *http.ResponseController
	status  int
	begun   bool
	closing <-chan struct{}
	legacy  *agui.Legacy // nil for those who know AG-UI 1.0
}

func (g *Gateway) newSSE(c echo.Context, status int) *sse {
	return &sse{c: c, rc: http.NewResponseController(c.Response().Writer), status: status, closing: g.base.Done()}
}

// begin sends the headers. The server's own limits are for requests that end.
func (s *sse) begin() error {
	if s.begun {
		return nil
	}
	s.begun = true
	_ = s.rc.SetReadDeadline(time.Time{}) // not every ResponseWriter has one
	h := s.c.Response().Header()
	h.Set("Content-Type", typeEvents)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	s.c.Response().WriteHeader(s.status)
	return s.flush()
}

// send writes events.
func (s *sse) send(events ...agui.Event) error {
	if s.legacy != nil {
		events = s.legacy.Rewrite(events)
	}
	if len(events) == 0 {
		return nil
	}
	data, err := encode(events)
	if err != nil {
		return err
	}
	return s.write(data)
}

// encode makes frames of events.
func encode(events []agui.Event) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, e := range events {
		if e.ID != "" {
			b.WriteString("id: " + e.ID + "\n")
		}
		b.WriteString("data: ")
		if err := enc.Encode(e.Data); err != nil { // ends the line
			return nil, fmt.Errorf("encode an event: %w", err)
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

func (s *sse) keepAlive() error { return s.write([]byte(": keep-alive\n\n")) }

func (s *sse) write(data []byte) error {
	if err := s.begin(); err != nil {
		return err
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(s.patience()))
	if _, err := s.c.Response().Write(data); err != nil {
		return err
	}
	return s.flush()
}

func (s *sse) flush() error { return s.rc.Flush() }

func (s *sse) patience() time.Duration {
	select {
	case <-s.closing:
		return closingTimeout
	default:
		return writeTimeout
	}
}

// hurry keeps a client that does not read from holding up a gateway that closes.
func (s *sse) hurry(base context.Context) (stop func() bool) {
	return context.AfterFunc(base, func() { _ = s.rc.SetWriteDeadline(time.Now().Add(closingTimeout)) })
}

// custom is an event of ours.
func custom(name string, value any) agui.Event {
	return agui.Event{Data: agui.Custom{Type: agui.TypeCustom, Name: agui.Namespace + "." + name, Value: value}}
}
