package wording

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// ReachedLimit is a limit that is reached.
type ReachedLimit struct {
	Of    string // turn or conversation
	What  string // tokens, cost, calls or time
	Used  int64  // in the unit of the contract.Limit's field
	Limit int64  // including grants
	// More is what approving grants: the amount of the setting again, repeatedly if needed.
	More int64
}

// Call returns the call that the approval shows. Nothing is called.
func (r ReachedLimit) Call() contract.Call {
	raw, err := json.Marshal(map[string]any{
		"limit": r.Of + "." + r.What, "spent": r.amount(r.Used), "allowed": r.amount(r.Limit), "more": r.amount(r.More),
	})
	if err != nil { // a map of numbers and texts can be encoded
		panic(fmt.Sprintf("encode a limit: %v", err))
	}
	return contract.Call{Name: contract.ToolGoOn, Arguments: contract.JSON{Raw: raw}, SHA256: contract.Hash(raw)}
}

// AfterLimit returns the reply if a person does not want to continue.
func AfterLimit(r ReachedLimit, d contract.ApprovalResult) string {
	if d.Decision != contract.Rejected {
		return AfterRefusal(d)
	}
	text := fmt.Sprintf("Stopped: the limit of %s for this %s is reached.", r.shown(r.Limit), r.Of)
	return strings.TrimSpace(text + " " + d.ReasonText())
}

// amount converts a number to the unit of the settings.
func (r ReachedLimit) amount(n int64) any {
	switch r.What {
	case "cost":
		return json.Number(Amount(n))
	case "time":
		return time.Duration(n).Round(time.Second).String()
	}
	return n
}

// Describe asks whether to continue. node is as in Describe.
func (r ReachedLimit) Describe(node string) string {
	who := ""
	if node != "" {
		who = " before " + node
	}
	return fmt.Sprintf("**LIMIT REACHED: %s of this %s**\n\nSpent: %s of %s%s.\n\nApprove to go on for another %s, reject to stop here.",
		r.What, r.Of, r.shown(r.Used), r.shown(r.Limit), who, r.shown(r.More))
}

func (r ReachedLimit) shown(n int64) string {
	switch r.What {
	case "cost":
		return Amount(n)
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

// Amount formats a Cost exactly, in the currency of the configured prices.
func Amount(cost int64) string {
	text := big.NewRat(cost, 1e9).FloatString(9)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
