package workflows_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/verdict"
)

var (
	anne = contract.Identity{Subject: "anne", Issuer: "keys", Scopes: []string{contract.ScopeApprove}, Groups: []string{"ops"}}
	bert = contract.Identity{Subject: "bert", Issuer: "keys", Scopes: []string{contract.ScopeApprove}, Groups: []string{"ops"}}
)

// editable returns a call whose value may be changed by who approves it.
func editable(asks ...verdict.Approval) contract.Call {
	for i := range asks {
		asks[i].Edit = []string{"value"}
	}
	c := ruled(add("x"), verdict.Ask, asks...)
	c.Basis = contract.JSON{Raw: []byte(`{"before":[]}`)}
	return c
}

// judged is an activity that changes arguments and has a verdict for the changed call.
func judged(v *verdict.Verdict) func(review.Input) (review.Result, error) {
	return func(in review.Input) (review.Result, error) {
		args, err := edit.Apply(in.Arguments.Raw, in.Edit, in.Allowed)
		if err != nil {
			return review.Result{Problem: err.Error()}, nil
		}
		changes, err := edit.Between(in.Arguments.Raw, args, in.Edit)
		return review.Result{Policy: "new", Verdict: v, Revision: &contract.Revision{Arguments: contract.JSON{Raw: args}, SHA256: contract.Hash(args), Changes: changes}}, err
	}
}

// editBy sends an update that approves the waiting approval with changes.
func (s *session) editBy(who contract.Identity, changes string) *decideUpdate {
	s.t.Helper()
	return s.editFor(who, nil, changes)
}

// editFor does the same in the place of another.
func (s *session) editFor(who contract.Identity, principal *deputy.Deputy, changes string) *decideUpdate {
	s.t.Helper()
	u := &decideUpdate{}
	id := contract.ApprovalWorkflowID(s.pending().UUID)
	in := contract.DecideSignal{Approved: true, By: who.Subject, Via: "rest", Identity: who, For: principal, Edit: json.RawMessage(changes)}
	if who.Authenticated() {
		in.Proof = s.prove(id, edit.Update, in)
	}
	if err := s.env.UpdateWorkflowByID(id, edit.Update, changes, u, in); err != nil {
		s.t.Fatalf("update an approval: %v", err)
	}
	s.rest()
	return u
}

func TestAnApprovalWithChangesRunsTheChangedCall(t *testing.T) {
	w := &world{GenerateFn: script(asks(editable(verdict.Approval{Rule: "big"})), says("Added.")), ReviewFn: judged(&verdict.Verdict{Outcome: verdict.Allow, Rule: "small", Policy: "new"})}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		p := s.pending()
		same(t, "may be changed", p.Edit, []string{"value"})
		same(t, "described", strings.Contains(p.Description, "May be approved with other values of: value"), true)
		u := s.editBy(contract.Identity{}, `{"value":400}`)
		same(t, "error", u.err, nil)
		same(t, "decision", u.record.Decision, contract.Approved)
		same(t, "revision", u.record.Revision.Changes, []edit.Change{{Name: "value", Before: "1", After: "400"}})
		s.rest()
	})
	same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":400}`})
	call := read(w, &w.calls)[0]
	same(t, "digest", call.SHA256, contract.Hash([]byte(`{"name":"x","value":400}`)))
	var record *contract.ApprovalResult
	for _, m := range s.messages() {
		if m.Approval != nil {
			record = m.Approval
			same(t, "marker", m.Content.Inline, "[APPROVAL]: Approved\n\nChanged: value is now 400, and was 1")
		}
	}
	same(t, "decision", record.Decision, contract.Approved)
	same(t, "both are recorded", record.ArgumentsSHA256 != record.Revision.SHA256 && string(record.Revision.Arguments.Raw) == `{"name":"x","value":400}`, true)
	same(t, "approvals", len(s.seen.children), 1)
}

// After a reset the model, or whoever approves, may come to the same call in another way. It is known as
// the one that has run.
func TestAChangedCallIsClaimedAsWhatItHasBecome(t *testing.T) {
	claimOf := func(c contract.Call, decide func(*session)) string {
		w := &world{GenerateFn: script(asks(c), says("Added.")), ReviewFn: judged(&verdict.Verdict{Outcome: verdict.Allow, Rule: "small", Policy: "new"})}
		converse(t, w, hello(), func(s *session) { s.rest(); decide(s); s.rest() })
		same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":400}`})
		return read(w, &w.calls)[0].Claim
	}
	changed := claimOf(editable(verdict.Approval{Rule: "big"}), func(s *session) { s.editBy(contract.Identity{}, `{"value":400}`) })
	proposed := claimOf(callOf("resources_add", "x", `{"name":"x","value":400}`, true), func(s *session) { s.approve() })
	same(t, "claim", changed, proposed)
	same(t, "there is one", changed != "", true)
}

// Workers of earlier versions read the result of an Approval, too. They must not run the call as it was.
func TestAnApprovalWithChangesIsNoYesForThoseWhoKnowNoChanges(t *testing.T) {
	in := question()
	in.Edit = []string{"value"}
	s := newSession(t, &world{ReviewFn: judged(nil)}, contract.ApprovalWorkflowID(in.UUID))
	s.run(contract.WorkflowApproval, in, func(s *session) {
		s.decideOn(approvalID, typed(`{"approved":true,"edit":{"value":2}}`))
		s.rest()
	}, s.env.CancelWorkflow)
	var r contract.ApprovalResult
	if err := s.env.GetWorkflowResult(&r); err != nil {
		t.Fatal(err)
	}
	same(t, "decision", r.Decision != contract.Approved && r.Open().Decision == contract.Approved && r.Revision != nil, true)
}

func TestChangesThatAreRefusedDecideNothing(t *testing.T) {
	deny := judged(&verdict.Verdict{Outcome: verdict.Deny, Rule: "never", Text: "Ask the platform team."})
	broken := func(review.Input) (review.Result, error) { return review.Result{}, errors.New("the store is away") }
	for name, c := range map[string]struct {
		changes string
		review  func(review.Input) (review.Result, error)
		kind    contract.Kind
		text    string
	}{
		"a field that the rule does not name": {`{"name":"y"}`, nil, contract.KindInvalid, "what may be changed is value"},
		"a rule that denies":                  {`{"value":2}`, deny, contract.KindForbidden, "the rule never refuses the changed call. Ask the platform team."},
		"a value that does not fit": {`{"value":2}`, func(review.Input) (review.Result, error) {
			return review.Result{Problem: "edit: \"value\": expected number"}, nil
		}, contract.KindInvalid, "expected number"},
		"what cannot be checked": {`{"value":2}`, broken, review.KindUnjudged, "could not be checked, try it again"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: script(asks(editable(verdict.Approval{Rule: "big"})), says("Added.")), ReviewFn: c.review}
			converse(t, w, hello(), func(s *session) {
				s.rest()
				before := s.pending().UUID
				u := s.editBy(contract.Identity{}, c.changes)
				err := errors.Join(u.refused, u.err)
				same(t, "kind", kindOf(err), c.kind)
				same(t, "text", strings.Contains(err.Error(), c.text), true)
				same(t, "still waits", s.pending().UUID, before)
				same(t, "ran", w.ran(), nil)
				s.reject()
				s.rest()
			})
			same(t, "ran", w.ran(), nil)
		})
	}
}

func TestATypedDecisionWithChangesThatAreRefusedIsIgnored(t *testing.T) {
	in := question()
	s := newSession(t, &world{}, contract.ApprovalWorkflowID(in.UUID))
	s.run(contract.WorkflowApproval, in, func(s *session) {
		s.decideOn(approvalID, typed(`{"approved":true,"edit":{"value":2}}`))
		s.rest()
		v := s.approval(approvalID)
		same(t, "waits", v.Result == nil && strings.Contains(v.Problem, "no argument of this call may be changed"), true)
		u := s.decideBy(typed(`{"approved":false,"edit":{"value":2}}`))
		s.rest()
		same(t, "a no with changes", kindOf(u.refused), contract.KindInvalid)
		s.decideOn(approvalID, contract.DecideSignal{})
		s.rest()
	}, s.env.CancelWorkflow)
}

// A client runs the call that it was sent.
func TestACallOfTheClientIsNotChanged(t *testing.T) {
	c := editable(verdict.Approval{Rule: "big"})
	c.Client = true
	converse(t, &world{GenerateFn: script(asks(c), says("Added."))}, hello(), func(s *session) {
		s.rest()
		same(t, "may be changed", s.pending().Edit, nil)
		s.reject()
		s.rest()
	})
}

// A deputy who changes a call, and the one in whose place, are one person for all rules.
func TestADeputyWhoChangesACallDecidesForOneRule(t *testing.T) {
	ops, finance := verdict.Approval{Rule: "ops", By: []string{"group:ops"}}, verdict.Approval{Rule: "finance", By: []string{"group:finance"}}
	dora := contract.Identity{Subject: "dora", Issuer: "keys", Scopes: []string{contract.ScopeApprove}}
	w := &world{GenerateFn: script(asks(editable(ops, finance)), says("Added.")), ReviewFn: judged(&verdict.Verdict{Outcome: verdict.Ask, Rule: "ops", Asks: []verdict.Approval{ops, finance}})}
	in := hello()
	in.Owner = contract.Identity{Subject: "olga", Issuer: "keys"}
	converse(t, w, in, func(s *session) {
		s.rest()
		s.decideOn(s.pending().UUID, s.decidedBy(s.pending().UUID, bert, contract.DecideSignal{Approved: true}))
		s.rest()
		same(t, "second", s.pending().Rule, "finance")
		u := s.editFor(dora, &deputy.Deputy{
			From:  deputy.Person{Subject: "anne", Issuer: "keys", Groups: []string{"finance"}, Scopes: []string{contract.ScopeApprove}},
			To:    deputy.Person{Subject: "dora", Issuer: "keys"},
			Until: s.env.Now().Add(time.Hour),
		}, `{"value":400}`)
		same(t, "taken", errors.Join(u.refused, u.err), nil)
		same(t, "again", s.pending().Rule, "ops")
		same(t, "neither of them", s.pending().Approvers, []string{"group:ops", "not:keys dora", "not:keys anne"})
		s.reject()
		s.rest()
	})
	same(t, "ran", w.ran(), nil)
}

// Whoever has approved the call as it was has not approved the changed one. Who changes it counts
// where they may decide, and others that the rules name for the changed call are asked, too.
func TestChangesVoidEarlierApprovals(t *testing.T) {
	ops := verdict.Approval{Rule: "both", By: []string{"group:ops"}, Count: 2}
	finance := verdict.Approval{Rule: "finance", By: []string{"group:finance"}}
	w := &world{GenerateFn: script(asks(editable(ops)), says("Added.")), ReviewFn: judged(&verdict.Verdict{Outcome: verdict.Ask, Rule: "both", Policy: "new", Asks: []verdict.Approval{ops, finance}})}
	in := hello()
	in.Owner = contract.Identity{Subject: "olga", Issuer: "keys"}
	converse(t, w, in, func(s *session) {
		s.rest()
		s.decideOn(s.pending().UUID, s.decidedBy(s.pending().UUID, anne, contract.DecideSignal{Approved: true}))
		s.rest()
		same(t, "second", s.pending().Approvers, []string{"group:ops", "not:keys anne"})
		s.editBy(bert, `{"value":400}`)
		p := s.pending()
		same(t, "anne is asked again, bert counts", p.Approvers, []string{"group:ops", "not:keys bert"})
		same(t, "arguments", string(p.ToolArgs.Raw), `{"name":"x","value":400}`)
		same(t, "said", strings.Contains(p.Description, "Changed by bert: value is now 400, and was 1"), true)
		s.decideOn(s.pending().UUID, s.decidedBy(s.pending().UUID, anne, contract.DecideSignal{Approved: true}))
		s.rest()
		same(t, "finance", s.pending().Rule, "finance")
		same(t, "ran before", w.ran(), nil)
		fred := contract.Identity{Subject: "fred", Issuer: "keys", Scopes: []string{contract.ScopeApprove}, Groups: []string{"finance"}}
		s.decideOn(s.pending().UUID, s.decidedBy(s.pending().UUID, fred, contract.DecideSignal{Approved: true}))
		s.rest()
	})
	same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":400}`})
}
