package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"agent-stop-and-go/gateway/agui"
)

// Event is an event of AG-UI. Its members depend on its type; those of events that are not for
// a Transcript are in Raw only.
type Event struct {
	// ID is the position after the event, unless it is empty.
	ID string `json:"-"`
	// Raw is the whole event.
	Raw json.RawMessage `json:"-"`

	Type         agui.Type `json:"type"`
	ThreadID     string    `json:"threadId"` // of RUN_STARTED and RUN_FINISHED: the conversation
	MessageID    string    `json:"messageId"`
	Role         string    `json:"role"`
	Name         string    `json:"name"` // of a custom event, or the node that writes
	ToolCallID   string    `json:"toolCallId"`
	ToolCallName string    `json:"toolCallName"`
	StepName     string    `json:"stepName"`
	Content      string    `json:"content"`
	// Message and Code describe a RUN_ERROR.
	Message  string          `json:"message"`
	Code     string          `json:"code"`
	Outcome  Outcome         `json:"outcome"`
	Messages []agui.Message  `json:"messages"`
	Value    json.RawMessage `json:"value"`
	Delta    json.RawMessage `json:"delta"`
	Metadata json.RawMessage `json:"metadata"`
}

// Outcome is how a run ended.
type Outcome struct {
	Type       agui.OutcomeType `json:"type"`
	Interrupts []Interrupt      `json:"interrupts"`
}

// Interrupt is an approval that waits. Client.Approval returns all of it.
type Interrupt struct {
	ID string `json:"id"`
}

// Text returns the piece of text of an event that has one.
func (e Event) Text() string {
	var s string
	if json.Unmarshal(e.Delta, &s) != nil {
		return "" // a change of the state
	}
	return s
}

// Ends reports whether the event ends a run.
func (e Event) Ends() bool { return e.Type == agui.TypeRunFinished || e.Type == agui.TypeRunError }

// mustReconnect reports whether the agent asks for a new stream.
func (e Event) mustReconnect() bool {
	return e.Type == agui.TypeCustom && e.Name == agui.CustomReconnect || e.Type == agui.TypeRunError && e.Code == "reconnect"
}

var errNoEvent = errors.New("the stream has something that is no event of AG-UI")

// maxEvent bounds an event. A snapshot has all messages of a conversation.
const maxEvent = 1 << 28

// readEvents calls yield with the events of a stream until it returns false. The end of the
// stream is io.EOF.
func readEvents(body io.Reader, yield func(Event) bool) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	var id string
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		switch {
		case len(line) > 0 && line[0] == ':': // a keep-alive
		case len(line) > 0:
			field, value, _ := strings.Cut(string(line), ":")
			value = strings.TrimPrefix(value, " ")
			switch field {
			case "id":
				id = value
			case "data":
				data = append(append(data, value...), '\n')
			}
		case len(data) > 0:
			e := Event{ID: id, Raw: bytes.TrimSuffix(data, []byte("\n"))}
			if err := json.Unmarshal(e.Raw, &e); err != nil {
				return fmt.Errorf("%w: %w", errNoEvent, err)
			}
			if !yield(e) {
				return nil
			}
			id, data = "", nil
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.EOF
}
