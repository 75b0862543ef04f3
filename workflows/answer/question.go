package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/clienttool"
)

// declineWords are the words that decline a question, besides those for no.
var declineWords = []string{"decline", "declined"}

// Reply is the answer to a question, or, if it is not Approved, a refusal to answer.
type Reply struct {
	Answer
	// Content fits the question's schema. It is nil when Approved is not set.
	Content json.RawMessage
}

// Signal returns the reply as a signal.
func (r Reply) Signal() contract.DecideSignal {
	return contract.DecideSignal{
		RequestID: r.RequestID, Approved: r.Approved, By: r.By, Reason: r.Reason, Via: r.Via, Chain: r.Chain, Credential: r.Credential,
		Content: contract.JSON{Raw: r.Content}, OnBehalfOf: r.OnBehalfOf, Identity: r.Identity, Proof: r.Proof, For: r.For, Edit: r.Edit, Always: r.Always, Echo: r.Echo,
	}
}

// ParseQuestion parses an answer to a question with this schema, in any accepted shape: the
// content itself, a text for the single field, or a rejection. The other keys are those of
// Parse. An error describes the accepted answers.
func ParseQuestion(raw, schema json.RawMessage) (Reply, error) {
	f := readForm(schema)
	r, err := f.parse(raw)
	if err != nil {
		return Reply{}, fmt.Errorf("%w; %s", err, f.accepted())
	}
	return r, nil
}

// ParseText parses a message that answers a question: a text for the single field, the content
// as a JSON object, or a rejection.
func ParseText(text string, schema json.RawMessage) (Reply, error) {
	f := readForm(schema)
	var r Reply
	var err error
	if raw := json.RawMessage(strings.TrimSpace(text)); len(raw) > 0 && raw[0] == '{' && json.Valid(raw) {
		if r, err = f.parse(raw); err != nil {
			r, err = f.accept(raw)
		}
	} else {
		r, err = f.parseText(text)
	}
	if err != nil {
		return Reply{}, fmt.Errorf("%w; %s", err, f.accepted())
	}
	return r, nil
}

// AcceptedBy describes the accepted answers to a question with this schema to people.
func AcceptedBy(schema json.RawMessage) string { return readForm(schema).accepted() }

// parse parses an answer of the API or the signal.
func (f form) parse(raw json.RawMessage) (Reply, error) {
	raw = json.RawMessage(strings.TrimSpace(string(raw)))
	switch {
	case !json.Valid(raw):
		return Reply{}, errors.New("the answer is not JSON")
	case raw[0] != '{':
		return f.value("the answer", raw)
	}
	p := reader{form: f}
	if err := members(raw, p.take); err != nil {
		return Reply{}, err
	}
	return p.reply()
}

// reader collects the keys of an answer. Those that decide must agree.
type reader struct {
	form    form
	about   Answer
	said    []Reply
	keys    []string
	content bool
}

func (p *reader) take(key string, raw json.RawMessage) error {
	switch key {
	case "content":
		if string(raw) == "null" {
			return nil
		}
		r, err := p.form.accept(raw)
		p.content = true
		return p.note(key, r, err)
	case "answer", "action":
		if isEmpty(raw) {
			return nil
		}
		if key == "action" {
			r, err := p.form.parseDecision(fmt.Sprintf("%q", key), raw)
			if err == nil && r.Approved {
				p.about.Approved = true // another key has the content
				return nil
			}
			return p.note(key, r, err)
		}
		r, err := p.form.value(fmt.Sprintf("%q", key), raw)
		return p.note(key, r, err)
	case "approved":
		approved, given, err := parseDecision(`"approved"`, raw)
		switch {
		case err != nil || !given:
			return err
		case approved:
			p.about.Approved = true
			return nil
		}
		return p.note(key, Reply{}, nil)
	}
	b := decisionFields{answer: p.about}
	err := b.take(key, raw)
	if err == nil && !slices.Contains(reasonFields, key) && p.form.has(key) {
		err = fmt.Errorf("%.60q belongs into \"content\"", key)
	}
	if err == nil && len(b.answer.Edit) > 0 {
		err = errors.New(`"edit" changes arguments of a call, and this is a question`)
	}
	p.about = b.answer
	return err
}

func (p *reader) note(key string, r Reply, err error) error {
	if err == nil {
		p.said, p.keys = append(p.said, r), append(p.keys, key)
	}
	return err
}

func (p *reader) reply() (Reply, error) {
	about := p.about
	if len(p.said) == 0 {
		if !about.Approved {
			return Reply{}, errors.New("there is no answer")
		}
		r, err := p.form.accept(json.RawMessage(`{}`))
		if err != nil {
			return Reply{}, err
		}
		r.Answer = about
		return r, nil
	}
	first := p.said[0]
	for i, r := range p.said {
		if r.Approved != first.Approved || string(r.Content) != string(first.Content) {
			return Reply{}, fmt.Errorf("%q and %q contradict each other", p.keys[0], p.keys[i])
		}
	}
	if about.Approved && !first.Approved {
		return Reply{}, fmt.Errorf("%q contradicts the rest", p.keys[0])
	}
	about.Approved = first.Approved
	return Reply{Answer: about, Content: first.Content}, nil
}

// parseDecision parses a word that accepts or declines, independently of the fields.
func (f form) parseDecision(key string, raw json.RawMessage) (Reply, error) {
	word, ok := scalar(raw)
	approved, known := Word(word)
	switch word = strings.ToLower(strings.TrimSpace(word)); {
	case !ok || !known && word != "accept" && !slices.Contains(declineWords, word):
		return Reply{}, fmt.Errorf("%s is neither a yes nor a no", key)
	case approved || word == "accept":
		return Reply{Answer: Answer{Approved: true}}, nil
	}
	return Reply{}, nil
}

// value converts a JSON value that is not an object to a text.
func (f form) value(key string, raw json.RawMessage) (Reply, error) {
	text, ok := scalar(raw)
	if !ok {
		return Reply{}, fmt.Errorf("%s must be a text, a number, true or false", key)
	}
	return f.parseText(text)
}

// scalar returns a string, a number or a boolean as a text.
func scalar(raw json.RawMessage) (text string, ok bool) {
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		return text, true
	}
	if len(raw) == 0 || strings.ContainsRune("{[n", rune(raw[0])) {
		return "", false
	}
	return string(raw), true
}

func isEmpty(raw json.RawMessage) bool {
	text, ok := scalar(raw)
	return string(raw) == "null" || ok && strings.TrimSpace(text) == ""
}

// parseText parses a text: a value of the single field, or a rejection. A rejection that is
// also a value of that field, such as "no" for a boolean, is the value.
func (f form) parseText(text string) (Reply, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Reply{}, errors.New("there is no answer")
	}
	field, single := f.soleField()
	if choice, ok := f.choiceField(text); ok && !single {
		field, single = choice, true
	}
	if single && field.takes(text) {
		return f.fill(field, text)
	}
	approved, known := Word(text)
	if known && !approved || slices.Contains(declineWords, strings.ToLower(text)) {
		return Reply{}, nil
	}
	switch {
	case single:
		return f.fill(field, text)
	case approved && !f.needs():
		return f.accept(json.RawMessage(`{}`))
	case len(f.fields) == 0:
		return Reply{}, errors.New("the answer is neither a yes nor a no")
	}
	return Reply{}, errors.New("the answer has several fields")
}

func (f form) fill(field field, text string) (Reply, error) {
	value, err := field.read(text)
	if err != nil {
		return Reply{}, err
	}
	name, err := json.Marshal(field.name)
	if err != nil { // a string can be encoded
		return Reply{}, err
	}
	return f.accept(json.RawMessage("{" + string(name) + ":" + string(value) + "}"))
}

// maxContent is the maximum size of content in bytes: it is stored in history.
const maxContent = clienttool.MaxResult

// accept checks content.
func (f form) accept(content json.RawMessage) (Reply, error) {
	if len(content) > maxContent {
		return Reply{}, fmt.Errorf("the content has more than %d bytes", maxContent)
	}
	if err := f.check(content); err != nil {
		return Reply{}, err
	}
	return Reply{Answer: Answer{Approved: true}, Content: content}, nil
}
