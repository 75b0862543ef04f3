package peer

import (
	"context"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"

	"agent-stop-and-go/activities/outbound"
)

// stream sends a request and yields the events of its answer. One JSON document instead of a
// stream is one event. The last item is an error unless the agent ended the stream properly.
func (x *session) stream(ctx context.Context, method string, params any) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		resp, err := x.post(ctx, x.agent.client, "text/event-stream, application/json", method, params)
		if err != nil {
			yield(event{}, err)
			return
		}
		defer resp.Body.Close()
		if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
			var e event
			err := x.read(resp, &e)
			yield(e, err)
			return
		}
		for data, err := range events(resp.Body) {
			var e event
			if err == nil {
				err = x.decode(data, &e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// events reads server-sent events and yields their data.
func events(body io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := outbound.NewEventReader(io.LimitReader(body, maxStream), maxEvent, errEventTooLarge)
		total := 0
		for {
			e, end := in.Next()
			total += len(e)
			if err := streamFailure(end, total); err != nil {
				yield(nil, err)
				return
			}
			if data := e.Data(); len(data) > 0 && !yield(data, nil) || end != nil {
				return
			}
		}
	}
}

var errEventTooLarge = fmt.Errorf("%w: an event of more than %d MiB", errTooLarge, maxEvent>>20)

// streamFailure returns why a stream failed, or nil if it continues or the agent ended it.
func streamFailure(end error, total int) error {
	switch {
	case end == io.EOF && total >= maxStream:
		return fmt.Errorf("%w: events of more than %d MiB", errTooLarge, maxStream>>20)
	case end == nil || end == io.EOF:
		return nil
	case end == errEventTooLarge:
		return end
	}
	return &wireError{err: end, sent: true}
}
