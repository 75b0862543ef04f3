package wording

import (
	"fmt"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/grant"
)

// SummaryGive is the summary of the activity that gives a standing grant.
const SummaryGive = "approved for later calls, too"

// Why a decision gives no standing grant.
const (
	TextAlwaysRejected = "always: later calls are approved with a yes"
	TextAlwaysEdited   = "always: a call that is changed cannot stand for later ones"
	TextAlwaysDeputy   = "always: a deputy approves single calls only"
	TextAlwaysOther    = "always: the call is not the one any more that was shown"
)

// Standing says that a call runs because of a standing grant.
func Standing(u grant.Use) string {
	who := "somebody"
	if u.By != "" {
		who = plain(u.By)
	}
	return fmt.Sprintf("approved by %s on %s for later calls, too (%s): use %d, %d left", who, u.Since.Format("2006-01-02 15:04"), u.ID, u.Number, u.Left)
}

// givenMarker says which standing grant came with a yes, or why there is none.
func givenMarker(r contract.ApprovalResult) string {
	switch g := r.Always; {
	case g == nil || r.Decision != contract.Approved:
		return ""
	case g.Problem != "":
		return "\n\nLater calls ask as before: " + plain(g.Problem)
	default:
		return fmt.Sprintf("\n\nFor later calls, too: %s, %d at most, until %s.", g.Scope, g.Uses, g.Until.UTC().Format("2006-01-02 15:04 MST"))
	}
}
