package decide

import (
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// Plan says how a turn handles a model's reply.
type Plan struct {
	// Answered are the calls with an immediate result, by index: unknown tools, invalid
	// arguments, and what a rule refuses or only tries.
	Answered map[int]contract.CallToolResult
	// Ask lists the calls that wait for a person, in order. While it is not empty no call of
	// the reply may run, so that a person decides before any of them has run.
	Ask []int
	// Batches lists the calls to run. Those of one batch run in parallel; a destructive call is a
	// batch of its own.
	Batches [][]int
	// Exit means that the node leaves the loop once the batches have run.
	Exit bool
}

// Next plans the calls of a reply. A reply without calls ends the node and has an empty plan.
// With skipApproval no call waits for a person.
func Next(calls []contract.Call, skipApproval bool) Plan {
	p := Plan{Answered: map[int]contract.CallToolResult{}}
	open := false // whether another read-only call may join the last batch
	for i, c := range calls {
		switch {
		case c.Unknown:
			p.Answered[i] = contract.CallToolResult{Text: contract.Inline(wording.ToolNotFound(c.Name)), IsError: true}
		case c.Problem != "":
			p.Answered[i] = contract.CallToolResult{Text: contract.Inline(c.Problem), IsError: true}
		case c.Exit:
			p.Answered[i] = contract.CallToolResult{Text: contract.Inline(wording.TextLoopLeft)}
			p.Exit = true
		case c.Verdict.Holding():
			p.Answered[i] = wording.NotRun(c)
		case c.Destructive || c.Verdict.Asking():
			if Asks(c, skipApproval) {
				p.Ask = append(p.Ask, i)
			}
			p.Batches = append(p.Batches, []int{i})
			open = false
		case open:
			last := len(p.Batches) - 1
			p.Batches[last] = append(p.Batches[last], i)
		default:
			p.Batches = append(p.Batches, []int{i})
			open = true
		}
	}
	return p
}

// Asks reports whether a call waits for a person. A rule of the agent takes precedence over
// whether its tool is destructive, and over skipApproval.
func Asks(c contract.Call, skipApproval bool) bool {
	if c.Verdict != nil {
		return c.Verdict.Asking()
	}
	return c.Destructive && !skipApproval
}
