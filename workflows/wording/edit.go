package wording

import (
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/verdict"
)

// SummaryReview is the summary of the activity that judges a call that waits.
const SummaryReview = "the rules of now"

// Why changes of arguments are refused.
const (
	TextEditRejected = "edit: changes come with a yes"
	TextEditUpdate   = "edit: changes have an update of their own, edit, which needs some"
)

// Unjudged says that the rules could not be asked about a call that is approved.
func Unjudged(f Failure) string {
	return "the call could not be checked, try it again: " + f.Message
}

// Held says which rule refuses a call that waits.
func Held(v verdict.Verdict) string {
	text := "the rule " + quotedName(v.Rule) + " refuses the call now."
	if v.Outcome == verdict.DryRun {
		text = "the rule " + quotedName(v.Rule) + " only tries the call now."
	}
	return strings.TrimSpace(text + " " + v.Text)
}

// EditHeld says which rule keeps a changed call from running.
func EditHeld(v verdict.Verdict) string {
	text := "edit: the rule " + quotedName(v.Rule) + " refuses the changed call."
	if v.Outcome == verdict.DryRun {
		text = "edit: the rule " + quotedName(v.Rule) + " only tries the changed call."
	}
	return strings.TrimSpace(text + " " + v.Text)
}

// Changed says what a person has changed who approved a call, or that the rules had changed.
func Changed(r contract.ApprovalResult) string {
	if len(r.Revision.Changes) == 0 {
		return "The rules have changed since the call was made: others have to approve it, too"
	}
	text := "Changed"
	if by := r.ShownBy(); by != "" {
		text += " by " + quotedName(by)
	}
	var changes []string
	for _, c := range r.Revision.Changes {
		changes = append(changes, change(c))
	}
	return text + ": " + strings.Join(changes, "; ")
}

func change(c edit.Change) string {
	if c.Before == "" {
		return Visible(c.Name) + " is now " + Visible(c.After) + ", and was not there"
	}
	return Visible(c.Name) + " is now " + Visible(c.After) + ", and was " + Visible(c.Before)
}

// Below puts a text below another one, which may be empty.
func Below(text, more string) string {
	if text == "" || more == "" {
		return text + more
	}
	return text + "\n\n" + more
}

// SummaryGive is the summary of the activity that gives a standing grant.
const SummaryGive = "approved for later calls, too"

// Why a decision gives no standing grant.
const (
	TextAlwaysRejected = "always: later calls are approved with a yes"
	TextAlwaysEdited   = "always: a call that is changed cannot stand for later ones"
	TextAlwaysDeputy   = "always: a deputy approves single calls only"
	TextAlwaysOther    = "always: the call is not the one any more that was shown"
)

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
