package merkle

import (
	"cmp"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
)

// openFor is how long a call may be without an outcome.
const openFor = time.Hour

// sequence looks for events that lack what must be there with them.
func (v *verifier) sequence() {
	s := Sequence(v.contents.Leaves, v.evidence.Now)
	v.report.Findings, v.report.Open = append(v.report.Findings, s.Findings...), s.Open
}

// Events is what Sequence has found.
type Events struct {
	Findings []Finding
	Open     int // calls that have begun lately and have no outcome yet
}

// Sequence says which events of a log lack others: a call without a proposal before it, or without
// an approval if people were asked; a decision of what was not shown; a call without an outcome.
func Sequence(leaves []audit.Leaf, now time.Time) Events {
	e := events{proposed: map[string]bool{}, asked: map[string]bool{}, approved: map[string]bool{}, edited: map[string]string{}, shown: map[string]audit.Leaf{}, calls: map[string]audit.Leaf{}, doubts: map[string]bool{}}
	for _, l := range leaves {
		e.take(l)
	}
	for _, l := range leaves { // in the order of the log
		if call, open := e.calls[l.Activity]; open && l.Kind == audit.KindCall {
			switch {
			case e.doubts[call.Proposal]: // a person was asked what came of it
			case now.Sub(call.At) < openFor:
				e.out.Open++
			default:
				e.lack(call, "a call has no outcome")
			}
		}
	}
	return e.out
}

type events struct {
	out      Events
	proposed map[string]bool
	asked    map[string]bool       // proposals
	approved map[string]bool       // proposals
	edited   map[string]string     // proposals of changed calls, by approval
	doubts   map[string]bool       // proposals whose calls have an unknown outcome
	shown    map[string]audit.Leaf // by approval
	calls    map[string]audit.Leaf // without outcome, by activity
}

func (e *events) lack(l audit.Leaf, text string) {
	e.out.Findings = append(e.out.Findings, Finding{Class: Incomplete, Leaf: l.ID, Text: text})
}

func (e *events) take(l audit.Leaf) {
	switch l.Kind {
	case audit.KindProposal:
		e.proposed[l.ID] = true
	case audit.KindShown:
		e.shown[l.Approval] = l
		switch l.Reason {
		case contract.ReasonDestructive:
			e.asked[l.Proposal] = true
		case contract.ReasonUnknownOutcome:
			e.doubts[l.Proposal] = true
		}
	case audit.KindEdit: // its decision approves the changed call, and not the one that was shown
		e.asked[l.Proposal], e.edited[l.Approval] = true, l.Proposal
		if _, there := e.shown[l.Approval]; !there {
			e.lack(l, "changes are of what was not shown before")
		}
	case audit.KindDecision:
		shown, there := e.shown[l.Approval]
		if !there {
			e.lack(l, "a decision is about what was not shown before")
		}
		if shown.Reason == contract.ReasonDestructive && l.Decision == contract.Approved {
			e.approved[cmp.Or(e.edited[l.Approval], shown.Proposal)] = true
		}
	case audit.KindCall:
		e.calls[l.Activity] = l
		switch {
		case !e.proposed[l.Proposal]:
			e.lack(l, "a call was not proposed before")
		case e.asked[l.Proposal] && !e.approved[l.Proposal]:
			e.lack(l, "people were asked about a call, and it ran without an approval")
		}
	case audit.KindOutcome:
		if _, there := e.calls[l.Activity]; !there && l.Outcome != audit.OutcomeNotSent {
			e.lack(l, "an outcome is of no call")
		}
		delete(e.calls, l.Activity)
	}
}
