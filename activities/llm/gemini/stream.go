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
)

// read takes the answer as it comes: the events of a stream, or one JSON object or
// a list of them, as gateways send that do not stream.
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
	for {
		data, err := nextEvent(in)
		switch {
		case err == io.EOF:
			return r.end()
		case err != nil:
			return err
		}
		if err := r.take(data); err != nil {
			return err
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
	r.ended = true // or it would be no JSON
	return r.end()
}

// firstByte is the first that is not white space. It stays unread.
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

// nextEvent is the data of the next event, also of one that the end of the stream
// cuts short. A failure may stand in the stream as plain JSON.
func nextEvent(in *bufio.Reader) ([]byte, error) {
	var data []byte
	for {
		line, err := nextLine(in, llm.MaxBody-len(data))
		if err != nil && err != io.EOF {
			return nil, err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch string(name) {
		case "data":
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		case "", "event", "id", "retry": // a comment, or nothing that matters
		default:
			data = append(append(data, line...), '\n')
		}
		switch {
		case len(data) > 0 && (len(line) == 0 || err == io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		}
	}
}

// nextLine is the next line without its end. The last one comes with io.EOF.
func nextLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		if line = append(line, piece...); len(line) > limit {
			return nil, llm.ErrTooLarge
		}
		if err != bufio.ErrBufferFull {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}
