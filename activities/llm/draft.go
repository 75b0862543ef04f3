package llm

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// A Draft keeps at most MaxBody bytes of a reply and emits at most maxThoughts bytes of
// thoughts. Each call counts as CallCost bytes besides its texts.
const (
	maxThoughts = 4 * MaxBody
	CallCost    = 64
)

// Withheld replaces a reply that the provider withholds.
const Withheld = "The provider withheld the model's reply (content filter)."

// Draft is a reply while it is received, in any format: it collects the pieces and emits
// deltas.
type Draft struct {
	Endpoint
	names  Names
	deltas func(Delta)

	text     strings.Builder
	calls    []*draftCall
	size     int // total bytes kept
	thoughts int // total bytes of thoughts emitted

	// Author is the model that answers. Finish is why it stopped: a constant of this package,
	// or the provider's own word for any other reason.
	Author, Finish string
	Refusal        string
	refusals       strings.Builder // a refusal received in pieces
	Usage          contract.Usage
	Native         *Native
}

type draftCall struct {
	id, name  string // the name as the model wrote it
	arguments strings.Builder
}

// Draft returns an empty draft of the reply to a request.
func (e Endpoint) Draft(r Request, names Names) *Draft {
	return &Draft{Endpoint: e, names: names, deltas: r.Deltas}
}

// AddText adds to the text of the reply. Like the other methods that add text it fails if the
// reply becomes too large.
func (d *Draft) AddText(text string) error {
	d.text.WriteString(text)
	return d.pass(Delta{Kind: DeltaText, Text: text})
}

// AddRefusal adds to a refusal, which replaces the rest of the reply.
func (d *Draft) AddRefusal(text string) error {
	d.refusals.WriteString(text)
	return d.pass(Delta{Kind: DeltaText, Text: text})
}

// AddReasoning emits thoughts, which are not part of the reply.
func (d *Draft) AddReasoning(text string) error {
	if d.thoughts += len(text); d.thoughts > maxThoughts {
		return d.Garbage("its thoughts have no end")
	}
	d.emit(Delta{Kind: DeltaReasoning, Text: text})
	return nil
}

// AddCall starts a call and returns its number.
func (d *Draft) AddCall(id, name string) int {
	d.size += CallCost + len(id) + len(name)
	d.calls = append(d.calls, &draftCall{id: id, name: name})
	if i := len(d.calls) - 1; d.deltas != nil {
		d.deltas(Delta{Kind: DeltaCall, Call: i, ID: id, Name: d.names.Own(name)})
	}
	return len(d.calls) - 1
}

// AddArguments adds to the arguments of a call.
func (d *Draft) AddArguments(call int, text string) error {
	d.calls[call].arguments.WriteString(text)
	return d.pass(Delta{Kind: DeltaArguments, Call: call, Text: text})
}

// Text returns the text so far.
func (d *Draft) Text() string { return d.text.String() }

// Identify sets the ID of a call that arrived after its start.
func (d *Draft) Identify(call int, id string) { d.calls[call].id = id }

// Arguments returns the arguments of a call so far.
func (d *Draft) Arguments(call int) string { return d.calls[call].arguments.String() }

func (d *Draft) pass(delta Delta) error {
	if err := d.Keep(len(delta.Text)); err != nil {
		return err
	}
	d.emit(delta)
	return nil
}

// Keep counts bytes that the draft or its format keeps.
func (d *Draft) Keep(n int) error {
	if d.size += n; d.size > MaxBody {
		return d.Garbage(ErrTooLarge.Error())
	}
	return nil
}

func (d *Draft) emit(delta Delta) {
	if d.deltas != nil && delta.Text != "" {
		d.deltas(delta)
	}
}

// Reply returns the finished reply.
func (d *Draft) Reply() (Reply, error) {
	calls := d.finishedCalls()
	r := Reply{
		Text: d.text.String(), Calls: calls, Model: cmp.Or(OneLine(d.Author), d.Model), Usage: d.Usage,
		Finish: cmp.Or(OneLine(d.Finish), FinishStop), Native: d.Native,
	}
	refusal := cmp.Or(d.refusals.String(), d.Refusal)
	switch silent := r.Text == "" && len(r.Calls) == 0; {
	case refusal != "":
		r.Text, r.Calls, r.Finish, r.Native = refusal, nil, FinishRefusal, nil
	case len(r.Calls) > 0 && r.Finish == FinishStop:
		r.Finish = FinishToolCalls
	case len(r.Calls) == 0 && r.Finish == FinishToolCalls && !silent:
		r.Finish = FinishStop
	case silent && r.Finish == FinishRefusal:
		r.Text = Withheld
	case silent && r.Finish == FinishLength:
		return Reply{}, d.Garbage("it reached its length limit before it said anything")
	case silent:
		return Reply{}, d.Garbage("neither text nor tool calls")
	}
	return r, nil
}

// finishedCalls returns the calls, each with a distinct ID. If an ID was missing or repeated,
// the reply's native form is dropped, because it cannot be sent back with the new IDs.
func (d *Draft) finishedCalls() []Call {
	var out []Call
	used := map[string]bool{}
	for _, c := range d.calls {
		if c.name == "" {
			continue
		}
		call := Call{ID: c.id, Name: d.names.Own(c.name)}
		for call.ID == "" || used[call.ID] {
			call.ID, d.Native = newCallID(), nil
		}
		used[call.ID] = true
		call.Arguments, call.Problem = arguments(c.arguments.String(), d.Finish)
		out = append(out, call)
	}
	return out
}

// newCallID returns an ID that every provider accepts.
func newCallID() string { return rand.Text()[:9] }

// arguments parses the arguments of a call.
func arguments(said, finish string) (json.RawMessage, string) {
	switch text := bytes.TrimSpace([]byte(said)); {
	case len(text) == 0 || string(text) == "null":
		return json.RawMessage("{}"), ""
	case IsObject(text):
		return text, ""
	case finish == FinishLength:
		return json.RawMessage("{}"), "The arguments were cut off at the model's length limit."
	case json.Valid(text):
		return json.RawMessage("{}"), "The arguments are JSON, but not a JSON object."
	}
	return json.RawMessage("{}"), "The arguments are not valid JSON."
}
