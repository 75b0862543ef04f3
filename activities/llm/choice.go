package llm

import (
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/toolchoice"
)

// OfferDemanded returns the request with no other tools than those of which the reply has to call
// one, for providers that can only be told that some tool has to be called.
func (r Request) OfferDemanded() Request {
	if len(r.Choice.Call) > 0 {
		r.Tools = slices.DeleteFunc(slices.Clone(r.Tools), func(t contract.Tool) bool { return !slices.Contains(r.Choice.Call, t.Name) })
	}
	return r
}

// AskInPrompt returns the request with a demand in the prompt, for providers that have no member
// for it. names are those on the wire.
func (r Request) AskInPrompt(c toolchoice.Choice, names Names) Request {
	var asks []string
	if len(c.Call) > 0 {
		var tools []string
		for _, name := range c.Call {
			tools = append(tools, names.Wire(name))
		}
		asks = append(asks, fmt.Sprintf("Reply with a call of one of these tools: %s.", strings.Join(tools, ", ")))
	}
	if c.Single && len(r.Tools) > 0 {
		asks = append(asks, "Call one tool at most in a reply.")
	}
	if len(asks) > 0 {
		r.System = strings.TrimSpace(r.System + "\n\n" + strings.Join(asks, " "))
	}
	return r
}
