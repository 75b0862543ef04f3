package demo

import (
	"slices"
	"strings"

	"agent-stop-and-go/activities/llm"
)

// demanded returns a reply with the calls that are demanded: its own if one of them is, else those
// that the user's words ask of the demanded tools, else a call of the first of these.
func demanded(reply llm.Reply, turns []llm.Turn, r llm.Request) llm.Reply {
	fits := func(c llm.Call) bool { return slices.Contains(r.Choice.Call, c.Name) }
	if len(r.Choice.Call) > 0 && !slices.ContainsFunc(reply.Calls, fits) {
		offer := r.OfferDemanded().Tools
		if reply = demoAnswer(lastText(r.Messages), offer, callsMade(turns)); len(reply.Calls) == 0 && len(offer) > 0 {
			reply = llm.Reply{Calls: []llm.Call{sampleCall(newDemoTool(offer[0]), callsMade(turns))}}
		}
	}
	if r.Choice.Single && len(reply.Calls) > 1 {
		reply.Calls = reply.Calls[:1]
	}
	return reply
}

// sampleCall returns a call with sample values for the required arguments.
func sampleCall(t *demoTool, callsBefore int) llm.Call {
	b := newBinding(t)
	for _, p := range t.props {
		if p.required {
			b.put(p, strings.Trim(p.sample(), `"`))
		}
	}
	return llm.Call{ID: llm.NumberedID(callsBefore), Name: t.Name, Arguments: b.arguments()}
}
