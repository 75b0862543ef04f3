package workflows_test

import (
	"errors"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/verdict"
)

// ruling is an activity that finds other rules than before.
func ruling(seen *[]review.Input, tightened ...*verdict.Verdict) func(review.Input) (review.Result, error) {
	return func(in review.Input) (review.Result, error) {
		*seen = append(*seen, in)
		out := review.Result{Policy: "new"}
		if len(*seen) <= len(tightened) {
			out.Tightened = tightened[len(*seen)-1]
		}
		return out, nil
	}
}

func TestRulesOfNowRefuseACallThatSomebodyApproves(t *testing.T) {
	for _, way := range []string{"update", "signal"} {
		t.Run(way, func(t *testing.T) {
			var seen []review.Input
			w := &world{GenerateFn: script(asks(editable(verdict.Approval{Rule: "big"})), says("Added.")),
				ReviewFn: ruling(&seen, &verdict.Verdict{Outcome: verdict.Deny, Rule: "never", Text: "Ask the platform team."})}
			s := converse(t, w, hello(), func(s *session) {
				s.rest()
				if way == "signal" {
					s.approve()
					s.rest()
					return
				}
				u := &decideUpdate{}
				if err := s.env.UpdateWorkflowByID(contract.ApprovalWorkflowID(s.pending().UUID), contract.UpdateDecide, "u", u, contract.DecideSignal{Approved: true}); err != nil {
					t.Fatal(err)
				}
				s.rest()
				same(t, "kind", kindOf(errors.Join(u.err, u.refused)), contract.KindForbidden)
			})
			same(t, "ran", w.ran(), nil)
			same(t, "waited for", seen[0].Waits.Policy+" "+seen[0].Waits.Asks[0].Rule, "0123456789ab big")
			lines := strings.Join(s.lines(), "\n")
			const reply = "assistant: Operation cancelled: the agent's rules have changed. Reason: the rule never refuses the call now. Ask the platform team."
			same(t, "said", strings.Contains(lines, reply), true)
			for _, m := range s.messages() {
				if r := m.Approval; r != nil {
					same(t, "record", string(r.Decision)+" "+r.Via+" "+r.By, "rejected policy ")
				}
			}
		})
	}
}

func TestRulesOfNowAskOthersAsWell(t *testing.T) {
	finance := verdict.Approval{Rule: "finance", By: []string{"group:finance"}}
	big := verdict.Approval{Rule: "big"}
	var seen []review.Input
	w := &world{GenerateFn: script(asks(editable(big)), says("Added.")),
		ReviewFn: ruling(&seen, &verdict.Verdict{Outcome: verdict.Ask, Rule: "big", Policy: "new", Asks: []verdict.Approval{big, finance}})}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		p := s.pending()
		same(t, "asked now", p.Rule+" "+p.Policy+" "+strings.Join(p.Approvers, " "), "finance new group:finance")
		same(t, "said", strings.Contains(p.Description, "The rules have changed since the call was made"), true)
		same(t, "ran before", w.ran(), nil)
		s.approve()
		s.rest()
	})
	same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
	same(t, "judged by what counts then", seen[1].Waits.Policy, "new")
	same(t, "approvals", len(s.seen.children), 2)
}

// A no needs no rules, and a call that nothing is known of is not judged again.
func TestWhatIsNotJudgedAgain(t *testing.T) {
	w := &world{GenerateFn: script(asks(editable(verdict.Approval{Rule: "big"})), says("x"))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.reject()
		s.rest()
	})
	w = &world{GenerateFn: script(asks(ruled(add("x"), verdict.Ask)), says("Added."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
	})
	same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
}
