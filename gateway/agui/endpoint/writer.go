package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/sse"
)

// writer writes AG-UI events to one client.
type writer struct {
	*sse.Writer
	legacy *agui.Legacy // nil for clients of AG-UI 1.0
}

func (ep *Endpoint) newWriter(c echo.Context, status int, legacy *agui.Legacy) *writer {
	return &writer{sse.New(c.Response(), status, ep.service.Closing()), legacy}
}

func (w *writer) send(events ...agui.Event) error {
	if w.legacy != nil {
		events = w.legacy.Rewrite(events)
	}
	if len(events) == 0 {
		return nil
	}
	data, err := encode(events)
	if err != nil {
		return err
	}
	return w.Write(data)
}

// encode encodes events as server-sent events.
func encode(events []agui.Event) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, e := range events {
		sse.AppendHead(&b, e.ID)
		if err := enc.Encode(e.Data); err != nil { // Encode ends the line
			return nil, fmt.Errorf("encode an event: %w", err)
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// custom returns a custom event.
func custom(name string, value any) agui.Event {
	return agui.Event{Data: agui.Custom{Type: agui.TypeCustom, Name: name, Value: value}}
}
