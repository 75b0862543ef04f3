// Package judgement has what the rules of an agent say of a call that waits, each time that they have
// changed since it was proposed.
package judgement

import (
	"time"

	"agent-stop-and-go/workflows/contract/verdict"
)

// Memo is the memo key of an Approval with its List, and MemoPolicy that with the version of the rules
// by which it was opened; "" without rules.
const (
	Memo       = "judgements"
	MemoPolicy = "policy"
)

// Max is how many judgements an Approval keeps, the newest.
const Max = 20

// Effect is what changed rules do to a call that waits, by themselves.
type Effect string

// The effects.
const (
	None      Effect = "none"
	Tightened Effect = "tightened" // others are asked, too, or more people
	Refused   Effect = "refused"   // the call does not run
)

// Judgement is what the rules of a version say.
type Judgement struct {
	Policy string    `json:"policy"`
	At     time.Time `json:"at"`
	Effect Effect    `json:"effect"`
	// Rule and Text are those of the verdict, if a rule is about the call.
	Rule string `json:"rule,omitempty"`
	Text string `json:"text,omitempty"`
	// Asks are whom the call needs from now on, with Tightened.
	Asks []Need `json:"asks,omitempty"`
	// Would is set if these rules alone need less than the call waits for. Only a release makes it
	// count.
	Would *Would `json:"would,omitempty"`
}

// Would is what a release would do: the call runs, or needs only these people.
type Would struct {
	Run  bool   `json:"run,omitempty"`
	Asks []Need `json:"asks,omitempty"`
}

// Need is one approval that a call needs.
type Need struct {
	Rule         string   `json:"rule,omitempty"`
	By           []string `json:"by,omitempty"`    // as in verdict.Approval
	Count        int      `json:"count,omitempty"` // 0 is one
	NotRequester bool     `json:"not_requester,omitempty"`
}

// Needs returns what approvals of a verdict demand.
func Needs(asks []verdict.Approval) (out []Need) {
	for _, a := range asks {
		out = append(out, Need{Rule: a.Rule, By: a.By, Count: a.Count, NotRequester: a.NotRequester})
	}
	return out
}

// WouldOf returns what a release would do by a verdict; nil for none.
func WouldOf(v *verdict.Verdict) *Would {
	if v == nil {
		return nil
	}
	return &Would{Run: v.Allowing(), Asks: Needs(v.Asks)}
}

// List are the judgements of an approval, the oldest first.
type List []Judgement

// Add returns the list with one more.
func (l List) Add(j Judgement) List {
	out := append(append(List(nil), l...), j)
	return out[max(0, len(out)-Max):]
}

// Knows reports whether the rules of a version have judged the call.
func (l List) Knows(policy string) bool {
	for _, j := range l {
		if j.Policy == policy {
			return true
		}
	}
	return false
}

// Last returns the newest one, or the zero value.
func (l List) Last() Judgement {
	if len(l) == 0 {
		return Judgement{}
	}
	return l[len(l)-1]
}

// Releasable reports whether a release under a version would do something.
func (l List) Releasable(policy string) bool {
	last := l.Last()
	return last.Would != nil && last.Policy == policy
}
