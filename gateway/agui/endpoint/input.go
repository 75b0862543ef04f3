package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// runInput has the members of an AG-UI RunAgentInput that are used here. Forwarded properties
// are not.
type runInput struct {
	ThreadID        string          `json:"threadId"`
	RunID           string          `json:"runId"`
	ProtocolVersion string          `json:"protocolVersion"`
	State           json.RawMessage `json:"state"`
	Messages        []inputMessage  `json:"messages"`
	Tools           []inputTool     `json:"tools"`
	Context         []inputContext  `json:"context"`
	Resume          []resumeEntry   `json:"resume"`
}

type inputMessage struct {
	ID         string       `json:"id"`
	Role       string       `json:"role"`
	Content    inputContent `json:"content"`
	ToolCallID string       `json:"toolCallId"`
	Error      string       `json:"error"`
	ToolCalls  []struct {
		ID string `json:"id"`
	} `json:"toolCalls"`
}

type inputContext struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// inputContent is a text, or parts of which only the texts are used.
type inputContent struct {
	text    string
	skipped []string // types of the other parts
	count   int      // number of all parts
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *inputContent) UnmarshalJSON(data []byte) error {
	*c = inputContent{}
	switch data[0] {
	case '"':
		return json.Unmarshal(data, &c.text)
	case '[':
		return c.parts(data)
	case '{', 'n': // of an activity, or null
		return nil
	}
	return fmt.Errorf("content: expected a string or a list of parts")
}

func (c *inputContent) parts(data []byte) error {
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	c.count = len(parts)
	var texts []string
	for _, p := range parts {
		if p.Type == "text" && p.Text != nil {
			texts = append(texts, *p.Text)
		} else {
			c.skipped = append(c.skipped, p.Type)
		}
	}
	c.text = strings.Join(texts, "\n")
	return nil
}

// The limits of what is stored with a conversation.
const (
	maxThread = 1 << 10
	maxName   = 256
	maxAnswer = 512 << 10
	maxNew    = 32 // new messages in one run
)

// readRun reads the body of a run.
func readRun(c echo.Context) (runInput, error) {
	var in runInput
	data, err := request.Body(c.Request())
	if err != nil {
		return in, err
	}
	if !json.Valid(data) {
		return in, service.Errorf(contract.KindInvalid, "invalid request body: it is not JSON")
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return in, &service.Error{Kind: request.KindUnprocessable, Text: "invalid run: " + request.DecodeErrorText(err)}
	}
	return in, in.check()
}

func (in runInput) check() error {
	switch {
	case in.ThreadID == "" || len(in.ThreadID) > maxThread:
		return unprocessable("threadId: expected 1 to %d bytes", maxThread)
	case in.RunID == "" || len(in.RunID) > maxName:
		return unprocessable("runId: expected 1 to %d bytes", maxName)
	case in.Messages == nil:
		return unprocessable("messages: expected a list")
	case !supported(in.ProtocolVersion):
		return unprocessable("protocolVersion: only 1 is understood")
	}
	for n, m := range in.Messages {
		if err := m.check(); err != nil {
			return unprocessable("messages[%d].%w", n, err)
		}
		if m.Content.count > contract.MaxParts {
			return service.Errorf(contract.KindTooLarge, "messages[%d].content: the message has %d parts: the limit is %d", n, m.Content.count, contract.MaxParts)
		}
	}
	for n, e := range in.Resume {
		if e.InterruptID == "" || e.Status != statusResolved && e.Status != statusCancelled {
			return unprocessable("resume[%d]: expected an interruptId and the status resolved or cancelled", n)
		}
	}
	return checkTools(in.Tools)
}

func unprocessable(format string, args ...any) *service.Error {
	return &service.Error{Kind: request.KindUnprocessable, Text: "invalid run: " + fmt.Errorf(format, args...).Error()}
}

func (m inputMessage) check() error {
	switch {
	case m.ID == "" || len(m.ID) > maxName:
		return fmt.Errorf("id: expected 1 to %d bytes", maxName)
	case m.Role == "":
		return fmt.Errorf("role: expected one")
	case m.Role == "tool" && m.ToolCallID == "":
		return fmt.Errorf("toolCallId: expected one")
	}
	return nil
}

var version = regexp.MustCompile(`^(\d+)\.\d+$`)

// supported reports whether a protocol version is supported. A version in an unknown form is
// taken as 1.x.
func supported(v string) bool {
	m := version.FindStringSubmatch(v)
	return m == nil || strings.TrimLeft(m[1], "0") == "1" || strings.TrimLeft(m[1], "0") == ""
}

// isLegacy reports whether a version is older than 1.0. Those clients send none.
func isLegacy(v string) bool {
	m := version.FindStringSubmatch(v)
	return v == "" || m != nil && strings.TrimLeft(m[1], "0") == ""
}

// heldIDs returns the IDs of the messages and calls that the client has.
func (in runInput) heldIDs() map[string]bool {
	ids := map[string]bool{}
	for _, m := range in.Messages {
		ids[m.ID] = true
		for _, call := range m.ToolCalls {
			ids[call.ID] = true
		}
	}
	return ids
}

// results returns the results of calls in the client's messages, by call. The last one of a
// call counts.
func (in runInput) results() map[string]string {
	results := map[string]string{}
	for _, m := range in.Messages {
		if m.Role == "tool" {
			results[m.ToolCallID] = m.result()
		}
	}
	return results
}

// result returns the result in a tool's message.
func (m inputMessage) result() string {
	if m.Content.text == "" {
		return m.Error
	}
	return m.Content.text
}

// newMessages returns the user messages at the end that the conversation does not have. It
// adds them to known.
func (in runInput) newMessages(known map[string]bool) []inputMessage {
	at := len(in.Messages)
	for at > 0 && in.Messages[at-1].Role == "user" {
		at--
	}
	var out []inputMessage
	for _, m := range in.Messages[at:] {
		if !known[m.ID] && strings.TrimSpace(m.Content.text) != "" {
			known[m.ID] = true
			out = append(out, m)
		}
	}
	return out
}

// skipped returns the types of the parts of new messages that are not used.
func (in runInput) skipped(known map[string]bool) []string {
	var types []string
	for at := len(in.Messages) - 1; at >= 0 && in.Messages[at].Role == "user"; at-- {
		if m := in.Messages[at]; !known[m.ID] {
			types = append(types, m.Content.skipped...)
		}
	}
	return types
}

// preface returns the client's context as a text to put in front of a message.
func (in runInput) preface() string {
	var b bytes.Buffer
	for _, c := range in.Context {
		if c.Description != "" || c.Value != "" {
			fmt.Fprintf(&b, "[context] %s: %s\n", c.Description, c.Value)
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}
