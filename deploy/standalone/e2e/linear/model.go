package linear

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Rule is what a call must have: Count people, each of Group and none of them Not. If nobody decides in
// time, one of Escalate takes the place.
type Rule struct {
	Count           int
	Group, Escalate []string
	Not             string
}

// lookUp is the part of a deputy's decision in which the deputy must be appointed.
const lookUp Op = "look up"

const (
	approved = "approved"
	rejected = "rejected"
	expired  = "expired"
)

// state is what has happened to a call. Steps are its approvals as they have opened.
type state struct {
	steps    []step
	deputies map[[2]string]bool // appointed, by who and for whom
	ran      bool
}

type step struct {
	approval  string
	escalated bool
	outcome   Record
}

// Check looks for an order of a history that the rule allows. The error of a history that has none
// says so.
func Check(r Rule, h []porcupine.Operation, limit time.Duration) error {
	m := r.model()
	result, info := porcupine.CheckOperationsVerbose(m, h, limit)
	switch result {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("%d operations could not be checked within %s", len(h), limit)
	}
	return fmt.Errorf("no order of these operations is allowed:\n%s", explain(m, h, info))
}

// explain lists a history, with a mark at what the longest allowed order does not have.
func explain(m porcupine.Model, h []porcupine.Operation, info porcupine.LinearizationInfo) (text string) {
	longest := []int{}
	for _, partition := range info.PartialLinearizations() {
		for _, order := range partition {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	for i, o := range h {
		mark := "  "
		if !slices.Contains(longest, i) {
			mark = "* "
		}
		end := "…"
		if d := time.Duration(o.Return); o.Output.(Output).Result != Lost {
			end = d.Round(time.Microsecond).String()
		}
		text += fmt.Sprintf("%s%s–%s %s\n", mark, time.Duration(o.Call).Round(time.Microsecond), end, m.DescribeOperation(o.Input, o.Output))
	}
	return text
}

func (r Rule) model() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{}} },
		Step: func(s, in, out any) (next []any) {
			before, i, o := s.(state), in.(Input), out.(Output)
			if o.Result == Lost { // nothing happened
				next = append(next, before)
			}
			if after, ok := r.step(before, i, o); ok {
				next = append(next, after)
			}
			return next
		},
		Equal:             func(a, b any) bool { return reflect.DeepEqual(a, b) },
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v: %+v", in, out) },
	}
	return m.ToModel()
}

// step returns the state after an operation, and whether it may have that answer.
func (r Rule) step(s state, in Input, out Output) (state, bool) {
	i := slices.IndexFunc(s.steps, func(x step) bool { return x.approval == in.Approval })
	switch in.Op {
	case See:
		return r.open(s, in)
	case Expire:
		if i >= 0 && s.steps[i].outcome.Decision == "" {
			s = s.with(i, Record{Decision: expired})
		}
		return s, i >= 0
	case Decide:
		return r.decide(s, i, in, out)
	case lookUp:
		return s, s.deputies[[2]string{in.Who, in.For}]
	case Appoint, Revoke:
		s.deputies = maps.Clone(s.deputies)
		if s.deputies == nil {
			s.deputies = map[[2]string]bool{}
		}
		s.deputies[[2]string{in.Who, in.For}] = in.Op == Appoint
		return s, true
	case Read:
		return s, i >= 0 && s.steps[i].outcome == out.Record
	case Run:
		ok := !s.ran && len(s.approvals()) == r.Count && !s.has(rejected)
		s.ran = true
		return s, ok
	}
	return s, false
}

// open adds an approval, if it is time for it. An escalation may follow an approval that nobody has
// seen before it expired.
func (r Rule) open(s state, in Input) (state, bool) {
	last := step{outcome: Record{Decision: approved}}
	if n := len(s.steps); n > 0 {
		last = s.steps[n-1]
	}
	may := last.outcome.Decision == approved
	if in.Escalated {
		may = len(r.Escalate) > 0 && (may || last.outcome.Decision == expired && !last.escalated)
	}
	s.steps = append(slices.Clone(s.steps), step{approval: in.Approval, escalated: in.Escalated})
	return s, may && len(s.approvals()) < r.Count
}

// decide is a decision about the step i.
func (r Rule) decide(s state, i int, in Input, out Output) (state, bool) {
	if i < 0 {
		return s, false
	}
	open, may := s.steps[i].outcome.Decision == "", r.may(s, i, in)
	switch out.Result {
	case Decided:
		return s, !open
	case Forbidden: // who has a part in the call is told so whether it is open or not
		return s, !may || in.For != "" && !s.deputies[[2]string{in.Who, in.For}]
	}
	o := Record{Decision: rejected, By: in.Who, For: in.For}
	if in.Approves {
		o.Decision = approved
	}
	return s.with(i, o), open && may
}

// may reports whether somebody may decide the step i: is asked, and has had no part in an earlier one.
func (r Rule) may(s state, i int, in Input) bool {
	asked, whose := r.Group, in.Who
	if s.steps[i].escalated {
		asked = r.Escalate
	}
	if in.For != "" {
		whose = in.For
	}
	for _, o := range s.steps[:i] {
		if a := o.outcome; a.Decision == approved && (slices.Contains([]string{a.By, a.For}, in.Who) || slices.Contains([]string{a.By, a.For}, whose)) {
			return false
		}
	}
	return slices.Contains(asked, whose) && in.Who != r.Not && whose != r.Not
}

func (s state) with(i int, o Record) state {
	s.steps = slices.Clone(s.steps)
	s.steps[i].outcome = o
	return s
}

func (s state) has(decision string) bool {
	return slices.ContainsFunc(s.steps, func(x step) bool { return x.outcome.Decision == decision })
}

// approvals returns the steps that were approved.
func (s state) approvals() (out []step) {
	for _, x := range s.steps {
		if x.outcome.Decision == approved {
			out = append(out, x)
		}
	}
	return out
}
