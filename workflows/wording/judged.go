package wording

import (
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/judgement"
)

// Why a judgement or a release is refused.
const (
	TextJudged        = "these rules have judged the call already, or no rules are about it"
	TextOtherRules    = "no worker that answers has these rules"
	TextNotOperator   = "a release needs the scope operate"
	TextNoRelease     = "the rules of now need as much as the call waits for: there is nothing to release"
	TextUnreadRelease = `the input is {"policy":"VERSION","reason":"…","by":"…"}, each of which may be absent`
)

// OtherPolicy refuses a release by rules that are not those of now.
func OtherPolicy(now, asked string) string {
	return fmt.Sprintf("the rules that have judged the call last are version %s, not %s", quotedName(now), quotedName(asked))
}

// Released is the reason of an approval that an operator has ended by a release.
func Released(policy, why string) string {
	text := "released by policy version " + policy
	if why = strings.TrimSpace(why); why != "" {
		text += ": " + why
	}
	return text
}

// releasedMarker is the message that records a release.
func releasedMarker(r contract.ApprovalResult) string {
	by := r.ShownBy()
	if by == "" {
		by = "somebody who is not known"
	} else {
		by = quotedName(by)
	}
	text := fmt.Sprintf("[APPROVAL]: Released by policy version %s through %s", r.Revision.Policy, by)
	if r.Decision != contract.Approved {
		text += ". These rules ask about the call: " + neededText(judgement.Needs(r.Revision.Verdict.Asks))
	}
	return text
}

// ReleasedStep is what is said below the description of a call that still asks after a release.
func ReleasedStep(r contract.ApprovalResult) string {
	return strings.TrimPrefix(releasedMarker(r), "[APPROVAL]: ")
}

// JudgementWord names what rules did to a call that waits.
func JudgementWord(j judgement.Judgement) string {
	if j.Would != nil && j.Effect == judgement.None {
		return "may be released"
	}
	return string(j.Effect)
}

// Notice is what an approval tells the readers of its conversation.
func Notice(q contract.QuestionSignal) string {
	if q.Judgement != nil {
		return Judged(*q.Judgement)
	}
	return Reminder(*q.Reminder)
}

// Judged is the notice that rules which have changed say something else of a call that waits.
func Judged(j judgement.Judgement) string {
	text := fmt.Sprintf("The rules have changed while this waits (policy version %s).", j.Policy)
	if j.Effect == judgement.Tightened {
		text += " The call now needs: " + neededText(j.Asks) + "."
	}
	switch w := j.Would; {
	case w == nil:
	case w.Run:
		text += " By the new rules alone it would run at once. It waits until somebody decides, or an operator releases it: agent policy release."
	default:
		text += " By the new rules alone it would need only: " + neededText(w.Asks) + ". That counts when an operator releases it: agent policy release."
	}
	return text
}

// neededText lists approvals.
func neededText(needs []judgement.Need) string {
	if len(needs) == 0 {
		return "nobody"
	}
	var all []string
	for _, n := range needs {
		text := "one person"
		if n.Count > 1 {
			text = fmt.Sprintf("%d people", n.Count)
		}
		var who []string
		if len(n.By) > 0 {
			who = append(who, Visible(approvers.Words(n.By, contract.Name{})))
		}
		if n.NotRequester {
			who = append(who, "not the requester")
		}
		if n.Rule != "" {
			who = append(who, "rule "+quotedName(n.Rule))
		}
		if len(who) > 0 {
			text += " (" + strings.Join(who, "; ") + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}
