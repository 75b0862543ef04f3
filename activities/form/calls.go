package form

import (
	"slices"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/toolchoice"
)

// Demand adds to a request what the sender of the message demands of the calls of the reply.
// offers reports whether a tool of this name is offered as the sender's: no other is demanded, so
// a tool of the agent is not called because a sender gave one of its own the same name.
func Demand(r *llm.Request, c toolchoice.Choice, offers func(name string) bool) {
	r.Choice = toolchoice.Choice{Single: c.Single}
	for _, name := range c.Call {
		if offers(name) && !slices.Contains(r.Choice.Call, name) {
			r.Choice.Call = append(r.Choice.Call, name)
		}
	}
}

// Demanded returns the sender's tools that a reply may call: if one of some is demanded, no others.
func Demanded(tools []contract.Tool, c toolchoice.Choice) []contract.Tool {
	if len(c.Call) == 0 {
		return tools
	}
	return slices.DeleteFunc(tools, func(t contract.Tool) bool { return !slices.Contains(c.Call, t.Name) })
}

// Single returns a reply without the calls that the sender does not take beside the first. The model
// does not see them again, and can ask for them in its next reply. Not every provider can be told
// to make one call.
func Single(reply llm.Reply, c toolchoice.Choice) llm.Reply {
	if c.Single && len(reply.Calls) > 1 {
		reply.Calls, reply.Native = reply.Calls[:1], nil // Native has all of them
	}
	return reply
}
