package gemini

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/outbound"
)

// read reads the answer while it arrives: the events of a stream, or one JSON object or a
// list of them from gateways that do not stream.
func (r *answer) read(res *http.Response) error {
	in := bufio.NewReaderSize(res.Body, 32<<10)
	first, err := firstByte(in)
	if err != nil && err != io.EOF {
		return err
	}
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if first == '{' || first == '[' || media != "text/event-stream" && !strings.ContainsRune("de:", rune(first)) {
		return r.readWhole(in)
	}
	events := outbound.NewEventReader(in, llm.MaxBody, llm.ErrTooLarge)
	for {
		e, end := events.Next()
		if end != nil && end != io.EOF {
			return end
		}
		if data := eventData(e); len(data) > 0 {
			if err := r.take(data); err != nil {
				return err
			}
		}
		if end != nil {
			return r.end()
		}
	}
}

func (r *answer) readWhole(in io.Reader) error {
	body, err := io.ReadAll(io.LimitReader(in, llm.MaxBody+1))
	switch {
	case err != nil:
		return err
	case len(body) > llm.MaxBody:
		return llm.ErrTooLarge
	}
	chunks := []json.RawMessage{body}
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		if err := json.Unmarshal(body, &chunks); err != nil {
			return err
		}
	}
	for _, chunk := range chunks {
		if err := r.take(chunk); err != nil {
			return err
		}
	}
	r.ended = true // else it would not be valid JSON
	return r.end()
}

// firstByte peeks at the first byte that is not white space.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if !unicode.IsSpace(rune(b)) {
			return b, in.UnreadByte()
		}
	}
}

// eventData returns the data of an event. A failure may be in the stream as plain JSON, in
// lines that are not fields of an event.
func eventData(e outbound.Event) []byte {
	var data []byte
	for line := range e.Lines() {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch string(name) {
		case "data":
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		case "", "event", "id", "retry": // a comment, or a field that is not needed
		default:
			data = append(append(data, line...), '\n')
		}
	}
	return data
}
