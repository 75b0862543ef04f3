package llm

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"strings"

	"agent-stop-and-go/workflows/contract"
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
	size  int // bytes of everything that was said

	// model is the one that answers, finish why it stopped: a word of this package,
	// or the provider's own for any other reason.
	model, finish string
	refusal       string
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
// as think and argue do.
func (d *draft) say(text string) error {
	d.text.WriteString(text)
	return d.pass(Delta{Kind: DeltaText, Text: text})
}

// think passes on thoughts, which are not part of the reply.
func (d *draft) think(text string) error { return d.pass(Delta{Kind: DeltaReasoning, Text: text}) }

// call begins a call and returns its number.
func (d *draft) call(id, name string) int {
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
	if delta.Text == "" {
		return nil
	}
	if d.size += len(delta.Text); d.size > maxBody {
		return d.garbage(errTooLarge.Error())
	}
	if d.deltas != nil {
		d.deltas(delta)
	}
	return nil
}

// reply is what the draft came to.
func (d *draft) reply() (Reply, error) {
	r := Reply{
		Text: d.text.String(), Calls: d.finished(), Model: cmp.Or(d.model, d.Model), Usage: d.usage,
		Finish: cmp.Or(d.finish, FinishStop), Native: d.native,
	}
	switch silent := r.Text == "" && len(r.Calls) == 0; {
	case d.refusal != "":
		r.Text, r.Calls, r.Finish, r.Native = d.refusal, nil, FinishRefusal, nil
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
			call.ID, d.native = rand.Text()[:9], nil
		}
		used[call.ID] = true
		call.Arguments, call.Problem = arguments(c.arguments.String(), d.finish)
		out = append(out, call)
	}
	return out
}

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
