package llm

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// What a draft keeps of a reply is bounded by maxBody, and so are its thoughts,
// which it only passes on, by maxThoughts. callCost is what a call takes besides its
// texts.
const (
	maxThoughts = 4 * maxBody
	callCost    = 64
)

// withheld is what stands for a reply that the provider keeps to itself.
const withheld = "The provider withheld the model's reply (content filter)."

// draft is a reply that is being made, in any format: it collects what the model
// says and passes it on as it comes.
type draft struct {
	endpoint
	names  nameTable
	deltas func(Delta)

	text  strings.Builder
	calls []*draftCall
	size  int // bytes of everything that is kept
	// thoughts is the bytes of all thoughts.
	thoughts int

	// model is the one that answers, finish why it stopped: a word of this package,
	// or the provider's own for any other reason.
	model, finish string
	refusal       string
	refusals      strings.Builder // a refusal that comes in pieces
	usage         contract.Usage
	native        *Native
}

type draftCall struct {
	id, name  string // the name as the model wrote it
	arguments strings.Builder
}

func (e endpoint) draft(r Request, names nameTable) *draft {
	return &draft{endpoint: e, names: names, deltas: r.Deltas}
}

// say adds to the text of the reply. It fails when the reply becomes too large,
// as the other methods do that take texts.
func (d *draft) say(text string) error {
	d.text.WriteString(text)
	return d.pass(Delta{Kind: DeltaText, Text: text})
}

// refuse adds to a refusal, which is all of the reply then.
func (d *draft) refuse(text string) error {
	d.refusals.WriteString(text)
	return d.pass(Delta{Kind: DeltaText, Text: text})
}

// think passes on thoughts, which are not part of the reply.
func (d *draft) think(text string) error {
	if d.thoughts += len(text); d.thoughts > maxThoughts {
		return d.garbage("its thoughts have no end")
	}
	d.tell(Delta{Kind: DeltaReasoning, Text: text})
	return nil
}

// call begins a call and returns its number.
func (d *draft) call(id, name string) int {
	d.size += callCost + len(id) + len(name)
	d.calls = append(d.calls, &draftCall{id: id, name: name})
	if i := len(d.calls) - 1; d.deltas != nil {
		d.deltas(Delta{Kind: DeltaCall, Call: i, ID: id, Name: d.names.toOwn(name)})
	}
	return len(d.calls) - 1
}

// argue adds to the arguments of a call.
func (d *draft) argue(call int, text string) error {
	d.calls[call].arguments.WriteString(text)
	return d.pass(Delta{Kind: DeltaArguments, Call: call, Text: text})
}

func (d *draft) pass(delta Delta) error {
	if err := d.keep(len(delta.Text)); err != nil {
		return err
	}
	d.tell(delta)
	return nil
}

// keep counts bytes that the draft or its format keeps.
func (d *draft) keep(n int) error {
	if d.size += n; d.size > maxBody {
		return d.garbage(errTooLarge.Error())
	}
	return nil
}

func (d *draft) tell(delta Delta) {
	if d.deltas != nil && delta.Text != "" {
		d.deltas(delta)
	}
}

// reply is what the draft came to.
func (d *draft) reply() (Reply, error) {
	calls := d.finished()
	r := Reply{
		Text: d.text.String(), Calls: calls, Model: cmp.Or(oneLine(d.model), d.Model), Usage: d.usage,
		Finish: cmp.Or(oneLine(d.finish), FinishStop), Native: d.native,
	}
	refusal := cmp.Or(d.refusals.String(), d.refusal)
	switch silent := r.Text == "" && len(r.Calls) == 0; {
	case refusal != "":
		r.Text, r.Calls, r.Finish, r.Native = refusal, nil, FinishRefusal, nil
	case len(r.Calls) > 0 && r.Finish == FinishStop:
		r.Finish = FinishToolCalls
	case len(r.Calls) == 0 && r.Finish == FinishToolCalls && !silent:
		r.Finish = FinishStop
	case silent && r.Finish == FinishRefusal:
		r.Text = withheld
	case silent && r.Finish == FinishLength:
		return Reply{}, d.garbage("it reached its length limit before it said anything")
	case silent:
		return Reply{}, d.garbage("neither text nor tool calls")
	}
	return r, nil
}

// finished are the calls, each with an ID of its own. Where the provider gave
// none, or one twice, its own form of the reply cannot go back to it.
func (d *draft) finished() []Call {
	var out []Call
	used := map[string]bool{}
	for _, c := range d.calls {
		if c.name == "" {
			continue
		}
		call := Call{ID: c.id, Name: d.names.toOwn(c.name)}
		for call.ID == "" || used[call.ID] {
			call.ID, d.native = newCallID(), nil
		}
		used[call.ID] = true
		call.Arguments, call.Problem = arguments(c.arguments.String(), d.finish)
		out = append(out, call)
	}
	return out
}

// newCallID is an ID that every provider takes.
func newCallID() string { return rand.Text()[:9] }

// arguments takes the arguments of a call apart.
func arguments(said, finish string) (json.RawMessage, string) {
	switch text := bytes.TrimSpace([]byte(said)); {
	case len(text) == 0 || string(text) == "null":
		return json.RawMessage("{}"), ""
	case isObject(text):
		return text, ""
	case finish == FinishLength:
		return json.RawMessage("{}"), "The arguments were cut off at the model's length limit."
	case json.Valid(text):
		return json.RawMessage("{}"), "The arguments are JSON, but not a JSON object."
	}
	return json.RawMessage("{}"), "The arguments are not valid JSON."
}
