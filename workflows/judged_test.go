package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/judgement"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/verdict"
)

// ruleUpdate is an update of an Approval that is about the rules.
type ruleUpdate struct{ refused, err error }

func (u *ruleUpdate) Accept()                   {}
func (u *ruleUpdate) Reject(err error)          { u.refused = err }
func (u *ruleUpdate) Complete(_ any, err error) { u.err = err }
func (u *ruleUpdate) problem() error            { return errors.Join(u.refused, u.err) }
func (s *session) judgements() judgement.List   { return s.approval(s.pending().UUID).Judgements }
func (s *session) judge(policy string) *ruleUpdate {
	return s.ruleUpdate(review.UpdateJudge, review.Judge{Policy: policy})
}

func (s *session) ruleUpdate(name string, in any) *ruleUpdate {
	s.t.Helper()
	u := &ruleUpdate{}
	s.sent++
	if err := s.env.UpdateWorkflowByID(contract.ApprovalWorkflowID(s.pending().UUID), name, fmt.Sprint(name, s.sent), u, in); err != nil {
		s.t.Fatal(err)
	}
	s.rest()
	return u
}

// releaseBy sends an operator's release.
func (s *session) releaseBy(policy string, by contract.Identity) *ruleUpdate {
	s.t.Helper()
	in := review.Release{Policy: policy, By: by.Subject, Reason: "tested", Identity: by}
	if by.Authenticated() {
		in.Proof = s.prove(contract.ApprovalWorkflowID(s.pending().UUID), review.UpdateRelease, in)
	}
	return s.ruleUpdate(review.UpdateRelease, in)
}

var operator = contract.Identity{Subject: "olga", Issuer: "keys", Scopes: []string{contract.ScopeOperate}, Channel: "rest"}

// by is an activity of a worker with rules of a version.
func by(version string, out review.Result) func(review.Input) (review.Result, error) {
	return func(in review.Input) (review.Result, error) {
		if in.Policy != "" && in.Policy != version {
			return review.Result{Policy: version}, fails(review.KindOtherRules, "other rules")
		}
		out.Policy = version
		return out, nil
	}
}

var (
	finance = verdict.Approval{Rule: "finance", By: []string{"group:finance"}}
	allowed = &verdict.Verdict{Outcome: verdict.Allow, Rule: "small", Policy: "new"}
)

func judgedWorld(out review.Result, waits ...verdict.Approval) *world {
	return &world{GenerateFn: script(asks(editable(waits...)), says("Added.")), ReviewFn: by("new", out)}
}

func TestRulesThatDenyEndACallThatWaits(t *testing.T) {
	w := judgedWorld(review.Result{Tightened: &verdict.Verdict{Outcome: verdict.Deny, Rule: "never", Text: "Ask the platform team."}}, verdict.Approval{Rule: "big"})
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		u := s.judge("new")
		same(t, "error", u.refused, nil)
		s.rest()
	})
	same(t, "ran", w.ran(), nil)
	for _, m := range s.messages() {
		if r := m.Approval; r != nil {
			same(t, "record", strings.Join([]string{string(r.Decision), r.Via, r.By, r.Policy}, " "), "rejected policy  new")
			same(t, "reason", r.Reason, "the rule never refuses the call now. Ask the platform team.")
		}
	}
}

func TestRulesThatAskMoreAreShownWhileACallWaits(t *testing.T) {
	big := verdict.Approval{Rule: "big"}
	w := judgedWorld(review.Result{Tightened: &verdict.Verdict{Outcome: verdict.Ask, Rule: "big", Policy: "new", Asks: []verdict.Approval{big, finance}}}, big)
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "error", s.judge("new").problem(), nil)
		got := s.judgements()
		same(t, "judgement", got[0].Policy+" "+string(got[0].Effect)+" "+got[0].Asks[1].By[0], "new tightened group:finance")
		same(t, "notice", strings.Contains(strings.Join(s.lines(), "\n"), "The call now needs: one person (rule big); one person (members of finance; rule finance)."), true)
		same(t, "details", strings.Contains(s.details(contract.ApprovalWorkflowID(s.pending().UUID)), "policy version new"), true)
		w.ReviewFn = by("new", review.Result{}) // nothing beyond what it waits for
		s.approve()
		s.rest()
		same(t, "asked now", s.pending().Rule+" "+s.pending().Policy, "finance new")
		same(t, "ran before", w.ran(), nil)
		s.approve()
		s.rest()
	})
	same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
	same(t, "approvals", len(s.seen.children), 2)
}

func TestRulesThatLetACallRunReleaseNothingByThemselves(t *testing.T) {
	for _, way := range []string{"update", "signal"} {
		t.Run(way, func(t *testing.T) {
			w := judgedWorld(review.Result{Verdict: allowed, Loosened: allowed}, verdict.Approval{Rule: "big"})
			s := converse(t, w, hello(), func(s *session) {
				s.rest()
				same(t, "error", s.judge("new").problem(), nil)
				same(t, "would", *s.judgements().Last().Would, judgement.Would{Run: true})
				same(t, "ran before", w.ran(), nil)
				if way == "signal" {
					if err := s.env.SignalWorkflowByID(contract.ApprovalWorkflowID(s.pending().UUID), review.SignalRelease, typed(`{"by":"olga"}`)); err != nil {
						t.Fatal(err)
					}
				} else {
					same(t, "release", s.releaseBy("new", operator).problem(), nil)
				}
				s.rest()
			})
			same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
			for _, m := range s.messages() {
				if r := m.Approval; r != nil {
					same(t, "marker", m.Content.Inline, "[APPROVAL]: Released by policy version new through olga")
					same(t, "record", strings.Join([]string{string(r.Decision), r.Via, r.By, r.Policy}, " "), "approved policy olga new")
					same(t, "nobody's yes", r.Revision.Released, true)
				}
			}
		})
	}
}

// Whoever has approved the call counts for the rules that release it.
func TestAReleaseAsksOnlyWhomTheRulesOfNowName(t *testing.T) {
	two := verdict.Approval{Rule: "big", By: []string{"group:ops"}, Count: 2}
	one := verdict.Approval{Rule: "big", By: []string{"group:ops"}}
	fewer := &verdict.Verdict{Outcome: verdict.Ask, Rule: "big", Policy: "new", Asks: []verdict.Approval{one}}
	for name, approved := range map[string]bool{"before anybody": false, "after one": true} {
		t.Run(name, func(t *testing.T) {
			w := judgedWorld(review.Result{}, two)
			s := converse(t, w, hello(), func(s *session) {
				s.rest()
				if approved {
					s.approve()
					s.rest()
				}
				w.ReviewFn = by("new", review.Result{Verdict: fewer, Loosened: fewer})
				policy := "new"
				if approved { // the yes was judged by them
					policy = "newer"
					w.ReviewFn = by("newer", review.Result{Verdict: fewer, Loosened: fewer})
				}
				same(t, "judged", s.judge(policy).problem(), nil)
				same(t, "would", s.judgements().Last().Would.Asks, []judgement.Need{{Rule: "big", By: []string{"group:ops"}}})
				same(t, "release", s.releaseBy(policy, operator).problem(), nil)
				if !approved {
					same(t, "ran before", w.ran(), nil)
					same(t, "said", strings.Contains(s.pending().Description, "Released by policy version new through olga"), true)
					s.approve()
					s.rest()
				}
			})
			same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
			same(t, "approvals", len(s.seen.children), 2)
		})
	}
}

func TestJudgementsAndReleasesThatAreRefused(t *testing.T) {
	w := judgedWorld(review.Result{Verdict: allowed, Loosened: allowed}, verdict.Approval{Rule: "big"})
	w.ReviewFn = by("new", review.Result{})
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "the version that asked", kindOf(s.judge("0123456789ab").refused), contract.KindInvalid)
		same(t, "nothing to release", kindOf(s.releaseBy("new", operator).refused), contract.KindInvalid)
		same(t, "first", s.judge("new").problem(), nil)
		same(t, "once only", kindOf(s.judge("new").refused), contract.KindInvalid)
		same(t, "nothing to release by them", kindOf(s.releaseBy("new", operator).refused), contract.KindInvalid)

		w.ReviewFn = by("newer", review.Result{Verdict: allowed, Loosened: allowed})
		same(t, "second", s.judge("newer").problem(), nil)
		same(t, "never back", kindOf(s.judge("new").refused), contract.KindInvalid)
		same(t, "another version", kindOf(s.releaseBy("new", operator).refused), contract.KindInvalid)
		same(t, "without the scope", kindOf(s.releaseBy("newer", anne).refused), contract.KindForbidden)
		forged := review.Release{Policy: "newer", Identity: operator, Proof: "forged"}
		same(t, "not proven", kindOf(s.ruleUpdate(review.UpdateRelease, forged).refused), contract.KindForbidden)

		w.ReviewFn = by("newest", review.Result{Loosened: allowed})
		u := s.releaseBy("newer", operator)
		same(t, "rules of now are others", kindOf(u.err), review.KindUnjudged)
		w.ReviewFn = by("newer", review.Result{})
		same(t, "the call needs more now", kindOf(s.releaseBy("newer", operator).err), contract.KindInvalid)
		same(t, "ran", w.ran(), nil)
		s.reject()
		s.rest()
	})
	same(t, "ran", w.ran(), nil)
}

// A release counts for the rules that its sender has seen, although workers with both run.
func TestRulesThatChangeDuringAReleaseStopIt(t *testing.T) {
	big := verdict.Approval{Rule: "big"}
	w := judgedWorld(review.Result{Verdict: allowed, Loosened: allowed}, big)
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "judged", s.judge("new").problem(), nil)
		var tries atomic.Int64
		w.ReviewFn = func(in review.Input) (review.Result, error) {
			if in.Policy == "newer" {
				return by("newer", review.Result{Tightened: &verdict.Verdict{Outcome: verdict.Ask, Rule: "big", Policy: "newer", Asks: []verdict.Approval{big, finance}}})(in)
			}
			if tries.Add(1) == 1 {
				return review.Result{}, fails(review.KindOtherRules, "other rules")
			}
			return by("new", review.Result{Verdict: allowed, Loosened: allowed})(in)
		}
		released := &ruleUpdate{}
		in := review.Release{Policy: "new", By: "olga", Reason: "tested"}
		if err := s.env.UpdateWorkflowByID(contract.ApprovalWorkflowID(s.pending().UUID), review.UpdateRelease, "released", released, in); err != nil {
			t.Fatal(err)
		}
		s.sleep(500 * time.Millisecond) // until it is tried again
		same(t, "judged again", s.judge("newer").problem(), nil)
		s.rest()
		same(t, "tries", tries.Load(), 2)
		same(t, "kind", kindOf(released.problem()), contract.KindInvalid)
		same(t, "ran", w.ran(), nil)
		same(t, "the call waits for", s.judgements().Last().Policy, "newer")
		s.reject()
		s.rest()
	})
	same(t, "ran", w.ran(), nil)
}

// A call whose rules have changed is approved as it is: those of now would judge a changed one alone.
func TestACallThatWasJudgedAgainIsNotChanged(t *testing.T) {
	w := judgedWorld(review.Result{Verdict: allowed, Loosened: allowed}, verdict.Approval{Rule: "big"})
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.judge("new")
		u := s.editBy(contract.Identity{}, `{"value":2}`)
		same(t, "kind", kindOf(errors.Join(u.refused, u.err)), contract.KindInvalid)
		s.reject()
		s.rest()
	})
	same(t, "ran", w.ran(), nil)
}

// A call that exceeds a rate limit waits for people, whatever the rules say of the call.
func TestARuleReleasesNoRateLimit(t *testing.T) {
	w := judgedWorld(review.Result{Verdict: allowed, Loosened: allowed})
	w.GenerateFn = script(asks(editable()), says("No."))
	w.CallToolFn = func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
		held := rates.Refusal{Limit: rates.Limit{Name: "hourly", Calls: 1, In: time.Hour, On: rates.Ask}}
		return contract.CallToolResult{}, temporal.NewNonRetryableApplicationError("rate limit", string(contract.KindRateLimited), nil, held)
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		same(t, "asks", s.pending().Rule, "hourly")
		same(t, "not judged", kindOf(s.judge("new").refused), contract.KindInvalid)
		same(t, "not released", kindOf(s.releaseBy("new", operator).refused), contract.KindInvalid)
		s.reject()
		s.rest()
	})
}
