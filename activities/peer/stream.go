package peer

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
)

// stream sends a request that is answered by events. An agent that answers with
// one JSON document instead gives one event. It ends with an error, or as the agent
// ends it.
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
				err = readResponse(x.mask.JSON(data), &e)
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
		lines := bufio.NewScanner(io.LimitReader(body, maxStream))
		lines.Buffer(nil, maxEvent)
		var data bytes.Buffer
		total := 0
		for lines.Scan() {
			line := strings.TrimSuffix(lines.Text(), "\r")
			total += len(line) + 1
			if line == "" && data.Len() > 0 {
				if !yield(bytes.Clone(data.Bytes()), nil) {
					return
				}
				data.Reset()
			}
			if rest, ok := strings.CutPrefix(line, "data:"); ok {
				data.WriteString(strings.TrimPrefix(rest, " ") + "\n")
			}
			if data.Len() > maxEvent {
				yield(nil, fmt.Errorf("%w: an event of more than %d MiB", errTooLarge, maxEvent>>20))
				return
			}
		}
		if err := streamEnd(lines.Err(), total); err != nil {
			yield(nil, err)
			return
		}
		if data.Len() > 0 {
			yield(data.Bytes(), nil)
		}
	}
}

// streamEnd says why there are no more lines; nil when the agent ended them.
func streamEnd(err error, total int) error {
	switch {
	case err == bufio.ErrTooLong:
		return fmt.Errorf("%w: an event of more than %d MiB", errTooLarge, maxEvent>>20)
	case total >= maxStream:
		return fmt.Errorf("%w: events of more than %d MiB", errTooLarge, maxStream>>20)
	case err != nil:
		return &wireError{err: err, sent: true}
	}
	return nil
}
