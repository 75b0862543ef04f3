package decide

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Spend adds what a node has spent and been granted.
func Spend(s contract.Spent, r contract.NodeResult) contract.Spent {
	return contract.Spent{
		Turn:         outlay(s.Turn, r, r.Granted.Turn),
		Conversation: outlay(s.Conversation, r, r.Granted.Conversation),
	}
}

func outlay(o contract.Outlay, r contract.NodeResult, granted contract.Limit) contract.Outlay {
	return contract.Outlay{Usage: o.Usage.Add(r.Usage), Time: o.Time + r.Worked, Granted: o.Granted.Add(granted)}
}

// Reached is a limit that is reached.
type Reached struct {
	Of    string // turn or conversation
	What  string // tokens, cost, calls or time
	Spent int64  // in the unit of the contract.Limit's field
	Limit int64  // with what was granted
	// More is what a person is asked for: as much as the limit was at first, or as
	// often that as it takes to go on.
	More int64
}

// LimitReached finds the first limit that is reached; nil limits never are.
func LimitReached(l *contract.Limits, s contract.Spent) (Reached, bool) {
	if l == nil {
		return Reached{}, false
	}
	if r, ok := reached("turn", l.Turn, s.Turn); ok {
		return r, true
	}
	return reached("conversation", l.Conversation, s.Conversation)
}

func reached(of string, l contract.Limit, o contract.Outlay) (Reached, bool) {
	for _, r := range []Reached{
		{of, "tokens", o.Usage.InputTokens + o.Usage.OutputTokens, l.Tokens + o.Granted.Tokens, l.Tokens},
		{of, "cost", o.Usage.Cost, l.Cost + o.Granted.Cost, l.Cost},
		{of, "calls", o.Usage.Calls, l.Calls + o.Granted.Calls, l.Calls},
		{of, "time", int64(o.Time), int64(l.Time + o.Granted.Time), int64(l.Time)},
	} {
		if r.More > 0 && r.Spent >= r.Limit {
			r.More *= (r.Spent-r.Limit)/r.More + 1
			return r, true
		}
	}
	return Reached{}, false
}

// Grant is what an approval grants.
func (r Reached) Grant() contract.Grants {
	var l contract.Limit
	switch r.What {
	case "tokens":
		l.Tokens = r.More
	case "cost":
		l.Cost = r.More
	case "calls":
		l.Calls = r.More
	case "time":
		l.Time = time.Duration(r.More)
	}
	if r.Of == "turn" {
		return contract.Grants{Turn: l}
	}
	return contract.Grants{Conversation: l}
}

// Call is what the approval shows: nothing is called.
func (r Reached) Call() contract.Call {
	raw, err := json.Marshal(map[string]any{
		"limit": r.Of + "." + r.What, "spent": r.amount(r.Spent), "allowed": r.amount(r.Limit), "more": r.amount(r.More),
	})
	if err != nil { // a map of numbers and texts can be encoded
		panic(fmt.Sprintf("encode a limit: %v", err))
	}
	return contract.Call{Name: contract.ToolGoOn, Arguments: contract.JSON{Raw: raw}, SHA256: contract.Sum(raw)}
}

// AfterLimit is the reply when a person does not want to go on.
func AfterLimit(r Reached, d contract.ApprovalResult) string {
	if d.Decision != contract.Rejected {
		return AfterRefusal(d)
	}
	text := fmt.Sprintf("Stopped: the limit of %s for this %s is reached.", r.shown(r.Limit), r.Of)
	return strings.TrimSpace(text + " " + d.ReasonText())
}

// amount is a number as the settings have it.
func (r Reached) amount(n int64) any {
	switch r.What {
	case "cost":
		return json.Number(contract.Amount(n))
	case "time":
		return time.Duration(n).Round(time.Second).String()
	}
	return n
}

// Describe asks whether to go on. node is as in Describe.
func (r Reached) Describe(node string) string {
	who := ""
	if node != "" {
		who = " before " + node
	}
	return fmt.Sprintf("**LIMIT REACHED: %s of this %s**\n\nSpent: %s of %s%s.\n\nApprove to go on for another %s, reject to stop here.",
		r.What, r.Of, r.shown(r.Spent), r.shown(r.Limit), who, r.shown(r.More))
}

func (r Reached) shown(n int64) string {
	switch r.What {
	case "cost":
		return contract.Amount(n)
	case "time":
		return time.Duration(n).Round(time.Second).String()
	case "calls":
		if n == 1 {
			return "1 model call"
		}
		return fmt.Sprintf("%d model calls", n)
	}
	return fmt.Sprintf("%d tokens", n)
}
