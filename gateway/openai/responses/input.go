package responses

import (
	"encoding/json"
	"fmt"

	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/openai/talk"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
)

// The types of items that answer what waits: an approval, and a call of the client.
const (
	typeAnswer = "mcp_approval_response"
	typeOutput = "function_call_output"
)

// items are the input of a request: a text, or items.
type items []item

// item has the members of input items that are used.
type item struct {
	ID                string          `json:"id"`
	Type              string          `json:"type"`
	Role              string          `json:"role"`
	Content           openai.Content  `json:"content"`
	CallID            string          `json:"call_id"`
	Output            json.RawMessage `json:"output"`
	ApprovalRequestID string          `json:"approval_request_id"`
	Approve           *bool           `json:"approve"`
	Reason            string          `json:"reason"`
	Name              string          `json:"name"`
	Arguments         string          `json:"arguments"`
	EncryptedContent  string          `json:"encrypted_content"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *items) UnmarshalJSON(data []byte) error {
	*i = nil
	switch data[0] {
	case '"':
		var text string
		err := json.Unmarshal(data, &text)
		*i = items{{Type: "message", Role: "user", Content: openai.Content{Text: text}}}
		return err
	case 'n':
		return nil
	}
	return json.Unmarshal(data, (*[]item)(i))
}

// UnmarshalJSON implements json.Unmarshaler. It refuses answers to approvals that are ambiguous.
func (i *item) UnmarshalJSON(data []byte) error {
	type plain item
	*i = item{}
	if err := json.Unmarshal(data, (*plain)(i)); err != nil || i.Type != typeAnswer {
		return err
	}
	if twice := request.Duplicate(data, "type", "approval_request_id", "approve"); twice != "" {
		return fmt.Errorf("%s: %s is there twice", typeAnswer, twice)
	}
	return nil
}

func (i item) isMessage() bool { return i.Type == "message" || i.Type == "" && i.Role != "" }

func (i item) ofUser() bool { return i.isMessage() && i.Role == "user" }

// answers reports whether an item is the result of a call, or an answer to an approval.
func (i item) answers() bool {
	return i.Type == typeOutput || i.Type == typeAnswer
}

// reference returns the response of the last item that the client has from one.
func (i items) reference() (q service.Request, ok bool) {
	for n := len(i) - 1; n >= 0 && !ok; n-- {
		if !i[n].ofUser() {
			q, ok = responseOfItem(i[n].ID)
		}
	}
	return q, ok
}

// read tells what is new from what was said before. Only what is at the end is new: an answer that
// is quoted from the history decides nothing.
func (i items) read(in *talk.Input) error {
	if err := talk.CheckLength("input", len(i)); err != nil {
		return err
	}
	from := len(i)
	for from > 0 && i[from-1].ofUser() {
		from--
	}
	answers := from
	for answers > 0 && i[answers-1].answers() {
		answers--
	}
	for n, item := range i {
		if err := item.add(in, n >= answers); err != nil {
			return openai.Within(fmt.Sprintf("input[%d]", n), err)
		}
	}
	if from == len(i) && answers == from {
		return invalid("input: expected a message of the user, the result of a call or an answer to an approval at its end")
	}
	if answers == from && in.Message.Text == "" && len(in.Message.Files) == 0 {
		return invalid("input: the message of the user is empty")
	}
	return nil
}

// add adds an item. Items of other types, such as reasoning, are what the agent has given out.
func (i item) add(in *talk.Input, isNew bool) error {
	switch {
	case i.isMessage():
		switch i.Role {
		case "user", "assistant", "system", "developer":
		default:
			return invalid("role: expected user, assistant, system or developer")
		}
		content, err := i.Content.Read()
		if err == nil {
			in.Add(i.Role, content, isNew)
		}
		return err
	case i.Type == typeCompaction:
		summary, err := unpack(i.EncryptedContent)
		if err == nil {
			in.Past.Append(true, "[summary of what was said before] "+summary)
			in.Past.Append(false, "")
		}
		return err
	case !isNew:
		return nil
	case i.Type == typeOutput:
		text, err := i.output()
		in.Results = append(in.Results, talk.Result{CallID: i.CallID, Text: text})
		return err
	case i.Type == typeAnswer:
		uuid, ok := approvalOf(i.ApprovalRequestID)
		if !ok {
			return invalid("approval_request_id %s is not one of this agent", service.Printable(i.ApprovalRequestID))
		}
		if i.Approve == nil {
			return invalid("approve: expected true or false")
		}
		if len(i.Reason) > service.MaxReason {
			return invalid("reason: expected %d bytes at most", service.MaxReason)
		}
		in.Answers = append(in.Answers, talk.Answer{UUID: uuid, Approve: *i.Approve, Reason: i.Reason})
	}
	return nil
}

// output returns the result of a call: a string, or parts with text.
func (i item) output() (string, error) {
	var content openai.Content
	if len(i.Output) == 0 {
		return "", nil
	}
	if err := json.Unmarshal(i.Output, &content); err != nil {
		return "", invalid("output: expected a string or parts")
	}
	read, err := content.Read()
	return read.Text, err
}
