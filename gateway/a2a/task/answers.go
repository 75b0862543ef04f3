package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
)

// Decision is the decision of a message about one waiting approval.
type Decision struct {
	UUID     string
	Approved bool
	By       string
	Reason   string
	Content  json.RawMessage // the answer to a question
	Edit     json.RawMessage // changes of the arguments (package edit)
}

// NoAnswer is the reason why a message decides nothing. The approval keeps waiting, and the
// text says which answers are accepted.
type NoAnswer struct{ Text string }

func (e *NoAnswer) Error() string { return e.Text }

func noAnswer(format string, args ...any) error { return &NoAnswer{fmt.Sprintf(format, args...)} }

// Decisions reads which of the waiting approvals a message decides and how: by the extension
// that the client has activated, by data parts in our form or ADK's, or by words. With first,
// a word alone is for the first of several approvals; otherwise each must be named. The error
// is a *NoAnswer, or wraps a2a.ErrInvalidParams for an answer that the extension does not
// allow.
func Decisions(m *a2a.Message, pending []contract.PendingApproval, first bool) ([]Decision, error) {
	if payload, ok := hitlPayload(m); ok {
		return readHITL(payload, pending)
	}
	var out []Decision
	for _, p := range m.Parts {
		data, ok := p.Data().(map[string]any)
		if !ok {
			continue
		}
		d, err := byPart(p, data, pending)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	if len(out) > 0 {
		return out, errors.Join(checkUnique(out), checkWord(out, Text(m)))
	}
	d, err := byText(m, pending, first)
	return []Decision{d}, err
}

func byPart(p *a2a.Part, data map[string]any, pending []contract.PendingApproval) (Decision, error) {
	if isFunctionResponse(p) {
		return byFunctionResponse(data, pending)
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return Decision{}, noAnswer("The data part cannot be read: %v.", err)
	}
	return byData(data, raw, pending)
}

// checkWord refuses a data part together with a word that says the opposite, since the sender
// may mean either. Other texts are ignored.
func checkWord(list []Decision, text string) error {
	approved, isWord := answer.Word(text)
	for _, d := range list {
		if isWord && approved != d.Approved && len(d.Content) == 0 { // with content the word may be part of the answer
			return noAnswer("%q and the data part contradict each other, and nothing has been decided.", short(text))
		}
	}
	return nil
}

// checkUnique refuses a message that answers an approval twice.
func checkUnique(list []Decision) error {
	seen := map[string]bool{}
	for _, d := range list {
		if seen[d.UUID] {
			return noAnswer("Approval %s is answered twice.", d.UUID)
		}
		seen[d.UUID] = true
	}
	return nil
}

// byData reads a data part, or a text that is a JSON object; raw is its original form.
func byData(data map[string]any, raw json.RawMessage, pending []contract.PendingApproval) (Decision, error) {
	if err := checkType(data); err != nil {
		return Decision{}, err
	}
	uuid, err := member(data, "uuid")
	if err != nil {
		return Decision{}, err
	}
	p, err := choose(uuid, pending)
	if err != nil {
		return Decision{}, err
	}
	return read(p, raw, func() (answer.Reply, error) { return answer.ParseQuestion(raw, p.Schema.Raw) })
}

// member returns the text under a key, or "" if there is none. As in package answer, the case
// of keys does not matter.
func member(data map[string]any, name string) (string, error) {
	found := ""
	for key, value := range data {
		if !strings.EqualFold(key, name) {
			continue
		}
		text, ok := value.(string)
		if !ok || text == "" || found != "" {
			return "", noAnswer("The %s of the answer must be one text.", name)
		}
		found = text
	}
	return found, nil
}

// checkType refuses data of another type, such as our own request sent back.
func checkType(data map[string]any) error {
	kind, err := member(data, "type")
	if err == nil && kind != "" && kind != contract.TypeApprovalAnswer {
		err = noAnswer("Data of the type %.64q is no answer; that has the type %q.", kind, contract.TypeApprovalAnswer)
	}
	return err
}

// choose returns the approval with a UUID; without a UUID, the only one.
func choose(uuid string, pending []contract.PendingApproval) (contract.PendingApproval, error) {
	if uuid == "" && len(pending) == 1 {
		return pending[0], nil
	}
	if p, ok := find(pending, uuid); ok {
		return p, nil
	}
	if uuid == "" {
		return contract.PendingApproval{}, noAnswer("The answer does not say which approval it is for.")
	}
	return contract.PendingApproval{}, noAnswer("No approval %.64q waits here.", uuid)
}

// read reads an approval or rejection or, with question, the answer to a question.
func read(p contract.PendingApproval, raw json.RawMessage, question func() (answer.Reply, error)) (Decision, error) {
	var r answer.Reply
	var err error
	if takesContent(p) {
		r, err = question()
	} else {
		r.Answer, err = answer.Parse(raw)
	}
	if err != nil {
		return Decision{}, noAnswer("This was no answer: %s.", strings.TrimSuffix(err.Error(), "."))
	}
	return Decision{UUID: p.UUID, Approved: r.Approved, By: r.By, Reason: r.Reason, Content: r.Content, Edit: r.Edit}, nil
}

// byText reads words: "approved", "approved UUID", or the answer to a question.
func byText(m *a2a.Message, pending []contract.PendingApproval, first bool) (Decision, error) {
	text := Text(m)
	p, said, err := splitAddress(text, pending, first)
	if err != nil {
		return Decision{}, err
	}
	data, isData := object(said)
	kind, _ := data["type"].(string)
	switch {
	case isData && (!takesContent(p) || kind == contract.TypeApprovalAnswer):
		return byData(data, json.RawMessage(said), pending)
	case takesContent(p):
		return read(p, nil, func() (answer.Reply, error) { return answer.ParseText(said, p.Schema.Raw) })
	}
	if raw := json.RawMessage(said); json.Valid(raw) {
		return read(p, raw, nil)
	}
	approved, ok := answer.Word(said)
	if !ok {
		return Decision{}, noAnswer("%q is no answer, and nothing has been decided.", short(said))
	}
	return Decision{UUID: p.UUID, Approved: approved}, nil
}

// splitAddress returns the approval that a text is for, and the text without its UUID.
func splitAddress(text string, pending []contract.PendingApproval, first bool) (contract.PendingApproval, string, error) {
	if words := strings.Fields(text); len(words) == 2 {
		if p, ok := find(pending, words[1]); ok {
			return p, words[0], nil
		}
		if _, isWord := answer.Word(words[0]); isWord && contract.IsUUID(strings.ToLower(words[1])) {
			return contract.PendingApproval{}, "", noAnswer("No approval %s waits here.", words[1])
		}
	}
	if len(pending) == 1 || first && len(pending) > 0 {
		return pending[0], text, nil
	}
	return contract.PendingApproval{}, "", noAnswer("%q does not say which approval it is for, and nothing has been decided.", short(text))
}

// Text returns the text parts of a message, one per line.
func Text(m *a2a.Message) string {
	var lines []string
	for _, p := range m.Parts {
		if t := p.Text(); t != "" {
			lines = append(lines, t)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func short(text string) string {
	if r := []rune(text); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return text
}

// IsNoAnswer returns the text for a client whose message decided nothing.
func IsNoAnswer(err error) (text string, ok bool) {
	var e *NoAnswer
	if errors.As(err, &e) {
		return e.Text, true
	}
	return "", false
}
