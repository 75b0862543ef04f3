// Package deputy has the wire types of deputies: who decides approvals in somebody's place, until a
// date.
//
// There is one workflow of type Deputies for each task queue, that is for each agent: another agent
// may give the same person other rights. Its memo Memo is the State that counts: it can be read
// without a worker.
package deputy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"agent-stop-and-go/workflows/contract/key"
)

// Registered names. Both updates take a Change and return the new State. They are refused with
// KindInvalid, KindForbidden or KindBusy.
const (
	Workflow = "Deputies"

	UpdateAppoint = "appoint"
	UpdateRevoke  = "revoke"

	Memo = "deputies"
)

// WorkflowID is the ID of the workflow of the agent with a task queue.
func WorkflowID(taskQueue string) string { return "deputies-" + taskQueue }

// Bounds.
const (
	MaxTime   = 90 * 24 * time.Hour
	Max       = 200 // deputies of everybody
	MaxOf     = 20  // deputies of one person
	MaxReason = 500
	maxName   = 255
)

// Person is a proven caller. Groups and Scopes are those at the time of the appointment: later
// ones give a deputy nothing.
type Person struct {
	Subject string   `json:"subject"`
	Issuer  string   `json:"issuer"`
	Groups  []string `json:"groups,omitempty"`
	Scopes  []string `json:"scopes,omitempty"`
}

// Key is the key of the person, as that of a contract.Identity.
func (p Person) Key() string { return key.Of(p.Issuer, p.Subject) }

// Deputy decides in the place of From until a time. That gives To no right over anything else.
type Deputy struct {
	ID   string `json:"id"` // a UUID
	From Person `json:"from"`
	To   Person `json:"to"`
	// Approval is the UUID of the only approval that it is about; "" is all that From may decide.
	Approval string    `json:"approval,omitempty"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Reason   string    `json:"reason,omitempty"`
}

// Concerns reports whether it counts for an approval at a time.
func (d Deputy) Concerns(approval string, now time.Time) bool {
	return (d.Approval == "" || d.Approval == approval) && now.Before(d.Until)
}

// Check fails for a deputy that cannot be appointed.
func (d Deputy) Check(now time.Time) error {
	switch {
	case d.From.Subject == "":
		return errors.New("nobody is known to be deputized for")
	case !isName(d.To.Subject) || !isName(d.To.Issuer):
		return fmt.Errorf("to must name somebody, with an issuer and a subject of at most %d bytes each, without signs that are not shown", maxName)
	case d.To.Key() == d.From.Key():
		return errors.New("nobody is a deputy of their own")
	case !d.Until.After(now):
		return errors.New("until is over already")
	case d.Until.Sub(now) > MaxTime:
		return fmt.Errorf("until: %d days at most", MaxTime/(24*time.Hour))
	case len(d.Reason) > MaxReason || strings.ContainsFunc(d.Reason, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("reason: must be one line of at most %d bytes", MaxReason)
	}
	return nil
}

func isName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Change appoints a deputy, or revokes the one with the ID.
type Change struct {
	Deputy
	// By is who changes it. Proof proves the whole; see package proof.
	By    Person `json:"by"`
	Proof string `json:"proof,omitempty"`
}

// State is the deputies, the oldest first.
type State struct {
	Deputies []Deputy `json:"deputies"`
}

// At returns those whose time is not over.
func (s State) At(now time.Time) (out []Deputy) {
	for _, d := range s.Deputies {
		if now.Before(d.Until) {
			out = append(out, d)
		}
	}
	return out
}

// Of returns those that are to or from a person, by its key.
func (s State) Of(person string, now time.Time) []Deputy {
	return slices.DeleteFunc(s.At(now), func(d Deputy) bool { return d.To.Key() != person && d.From.Key() != person })
}

// To returns those that a person may decide by, by its key.
func (s State) To(person string, now time.Time) []Deputy {
	return slices.DeleteFunc(s.At(now), func(d Deputy) bool { return d.To.Key() != person })
}

// Input starts the workflow. It is empty except for a run that continues another.
type Input struct{ State }
