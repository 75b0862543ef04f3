package workflows_test

import (
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/standing"
	"agent-stop-and-go/workflows/contract/verdict"
)

// alwaysBy sends an update that approves for later calls, too.
func (s *session) alwaysBy(name string, in contract.DecideSignal) *decideUpdate {
	u := &decideUpdate{}
	s.env.UpdateWorkflow(name, "", u, in)
	s.rest()
	return u
}

func offered() contract.ApprovalInput {
	in := question()
	in.Binding = &contract.Binding{Address: "http://shop", SHA256: "d"}
	in.Always = &grant.Offer{Scopes: []grant.Scope{grant.Turn, grant.Conversation}, AtMost: time.Hour, Uses: 5, Rules: "rr", Turn: "r"}
	return in
}

func TestAStandingGrantIsWhatWasShown(t *testing.T) {
	in := offered()
	runApprovalAlone(t, in, func(s *session) {
		good := grant.Choice{Scope: grant.Turn, Until: s.env.Now().Add(30 * time.Minute).UTC().Truncate(time.Second), Uses: 2}
		terms, err := standing.Propose(in.Pending(), good, s.env.Now())
		if err != nil {
			t.Fatal(err)
		}
		good.Digest = terms.Digest()
		for name, change := range map[string]func(*contract.DecideSignal){
			"digest":               func(d *contract.DecideSignal) { d.Always.Digest = "" },
			"have it shown again":  func(d *contract.DecideSignal) { d.Always.Uses = 3 },
			"must be one of":       func(d *contract.DecideSignal) { d.Always.Scope = grant.Agent },
			"uses is 6":            func(d *contract.DecideSignal) { d.Always.Uses = 6 },
			"may not be left open": func(d *contract.DecideSignal) { d.Always.Open = []string{"name"} },
			"with a yes":           func(d *contract.DecideSignal) { d.Approved = false },
			"may be changed":       func(d *contract.DecideSignal) { d.Edit = []byte(`{"name":"y"}`) },
		} {
			c := good
			d := contract.DecideSignal{Approved: true, Always: &c}
			change(&d)
			if u := s.alwaysBy(edit.Update, d); kindOf(u.refused) != contract.KindInvalid || !strings.Contains(u.refused.Error(), name) {
				t.Errorf("%s: %+v", name, u)
			}
		}
		if u := s.alwaysBy(contract.UpdateDecide, contract.DecideSignal{Approved: true, Always: &good}); kindOf(u.refused) != contract.KindInvalid {
			t.Errorf("the update that older workers know: %+v", u)
		}
		s.decideOn(approvalID, contract.DecideSignal{Approved: true})
		s.rest()
	})
}

// Rules that have changed while a call waits cannot say what it may stand for: neither a grant that was shown
// before, nor another.
func TestACallThatWasJudgedAgainGivesNoGrant(t *testing.T) {
	in := offered()
	in.Waits = &verdict.Verdict{Policy: "old"}
	runApprovalAlone(t, in, func(s *session) {
		s.world.ReviewFn = by("new", review.Result{})
		c := grant.Choice{Scope: grant.Turn, Until: s.env.Now().Add(30 * time.Minute).UTC().Truncate(time.Second), Uses: 2}
		terms, err := standing.Propose(in.Pending(), c, s.env.Now())
		if err != nil {
			t.Fatal(err)
		}
		c.Digest = terms.Digest()
		judged := &ruleUpdate{}
		s.env.UpdateWorkflow(review.UpdateJudge, "", judged, review.Judge{Policy: "new"})
		s.rest()
		same(t, "judged", judged.problem(), nil)
		if u := s.alwaysBy(edit.Update, contract.DecideSignal{Approved: true, Always: &c}); kindOf(u.refused) != contract.KindInvalid || !strings.Contains(u.refused.Error(), "the rules let nobody") {
			t.Errorf("%+v", u)
		}
		s.decideOn(approvalID, contract.DecideSignal{Approved: true})
		s.rest()
	})
}

// The call is approved, and its record says why there is no grant.
func TestAnApprovalWithoutItsGrantSaysSo(t *testing.T) {
	in := offered()
	got := runApprovalAlone(t, in, func(s *session) {
		c := grant.Choice{Scope: grant.Conversation, Until: s.env.Now().Add(30 * time.Minute).UTC().Truncate(time.Second), Uses: 2}
		terms, err := standing.Propose(in.Pending(), c, s.env.Now())
		if err != nil {
			t.Fatal(err)
		}
		c.Digest = terms.Digest()
		s.world.GiveFn = func(standing.Giving) error {
			return temporal.NewNonRetryableApplicationError("there are 100 standing grants already", string(contract.KindBusy), nil)
		}
		if u := s.alwaysBy(edit.Update, contract.DecideSignal{Approved: true, By: "ops", Always: &c}); u.err != nil || u.record.Always == nil {
			t.Errorf("%+v", u)
		}
	})
	if got.Decision != contract.Approved || got.Always == nil || got.Always.Problem != "there are 100 standing grants already" {
		t.Errorf("%+v", got)
	}
}
