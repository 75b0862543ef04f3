package workflows_test

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

const (
	askersToken    = "v1.k1.c2VhbGVkLWZvci10aGUtYXNrZXI"
	approversToken = "v1.k1.c2VhbGVkLWZvci10aGUtYXBwcm92ZXI"
)

func askedBy(token string) contract.ConversationInput {
	in := hello()
	in.First.Credential = token
	return in
}

func TestTheTokenOfWhoAskedTravelsWithEveryCall(t *testing.T) {
	for _, mode := range []contract.Execution{contract.ExecutionRegular, contract.ExecutionLean, contract.ExecutionAuto} {
		t.Run(string(mode), func(t *testing.T) {
			w := &world{GenerateFn: script(asks(list("a")), says("Done."), says("Again.")), Slow: true}
			how := map[contract.Execution]string{contract.ExecutionLean: "local"}[mode]
			how = cmp.Or(how, "regular")
			in := with(askedBy(askersToken), func(a *contract.Agent) { a.Execution = mode })
			converse(t, w, in, func(s *session) {
				s.rest()
				s.say("r2", "without a token")
				s.rest()
			})
			same(t, "calls", read(w, &w.log)[:6], []string{
				how + " generate " + askersToken, how + ` resources_list{"pattern":"a"} ` + askersToken,
				how + " generate " + askersToken, "local export ",
				how + " generate ", "local export ",
			})
		})
	}
}

func TestTheTokenOfWhoAskedIsThereAfterAnApproval(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Done."))}
	converse(t, w, askedBy(askersToken), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
	})
	same(t, "the call", read(w, &w.log)[2], `regular resources_add{"name":"x","value":1} `+askersToken)
}

func asApprover(a *contract.Agent) { a.CallAs = contract.CallAsApprover }

func TestCallsAreMadeAsTheRequesterUnlessTheAgentSaysOtherwise(t *testing.T) {
	for name, tt := range map[string]struct {
		change      func(*contract.Agent)
		first, then string // whose token the approved call uses
	}{
		"by default":                       {func(*contract.Agent) {}, askersToken, askersToken},
		"by default, without a token":      {func(*contract.Agent) {}, "", ""},
		"as the approver":                  {asApprover, askersToken, approversToken},
		"as the approver, instead of none": {asApprover, "", approversToken},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: script(asks(list("a"), add("x")), says("Done."), says("Again."))}
			converse(t, w, with(askedBy(tt.first), tt.change), func(s *session) {
				s.rest()
				s.decide(contract.DecideSignal{Approved: true, Credential: approversToken})
				s.rest()
				s.say("r2", "without a token")
				s.rest()
			})
			same(t, "calls", read(w, &w.log)[:7], []string{
				"regular generate " + tt.first, "local export ",
				`regular resources_list{"pattern":"a"} ` + tt.first, `regular resources_add{"name":"x","value":1} ` + tt.then,
				"regular generate " + tt.first, "local export ",
				"regular generate ",
			})
		})
	}
}

func TestEachCallIsMadeAsWhoApprovedIt(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x"), add("y")), says("Done."))}
	converse(t, w, with(askedBy(askersToken), asApprover), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, Credential: approversToken})
		s.rest()
		s.decide(contract.DecideSignal{Approved: true})
		s.rest()
	})
	var log []string
	for _, line := range read(w, &w.log) {
		if strings.Contains(line, "resources_add") {
			log = append(log, line)
		}
	}
	same(t, "calls", log, []string{
		`regular resources_add{"name":"x","value":1} ` + approversToken, `regular resources_add{"name":"y","value":1} ` + askersToken,
	})
}

func TestATreeGoesOnAsTheRequester(t *testing.T) {
	for _, change := range []func(*contract.Agent){func(*contract.Agent) {}, asApprover} {
		w := &world{GenerateFn: script(asks(add("x")), says("Done."), says("Next."))}
		in := with(tree(sequential("s", llm("a"), llm("b"))), change)
		in.First.Credential = askersToken
		converse(t, w, in, func(s *session) {
			s.rest()
			s.decide(contract.DecideSignal{Approved: true, Credential: approversToken})
			s.rest()
		})
		for _, line := range read(w, &w.log) {
			if strings.HasPrefix(line, "regular generate ") && line != "regular generate "+askersToken {
				t.Errorf("a model was called with another token: %s", line)
			}
		}
	}
}

func TestADelegationIsToldAsTheAgentSays(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*contract.Agent)
		told   string
	}{
		"by default":      {func(*contract.Agent) {}, askersToken},
		"as the approver": {asApprover, approversToken},
	} {
		for _, yes := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				w := &world{DelegateFn: answers(remote(contract.TaskInputRequired, "Sure?"), remote(contract.TaskCanceled, "kept"))}
				if yes {
					w.DelegateFn = answers(remote(contract.TaskInputRequired, "Sure?"), atWork(), remote(contract.TaskCompleted, "done"))
				}
				in := with(tree(ask("clean up")), tt.change)
				in.First.Credential = askersToken
				converse(t, w, in, func(s *session) {
					s.rest()
					s.decide(contract.DecideSignal{Approved: yes, Credential: approversToken})
					s.rest()
				})
				var sent []string
				for _, line := range read(w, &w.log) {
					if strings.HasPrefix(line, "regular delegate") {
						sent = append(sent, line[strings.LastIndex(line, " ")+1:])
					}
				}
				want := []string{askersToken, tt.told}
				if yes {
					want = append(want, askersToken) // polling the task
				}
				same(t, "tokens", slices.Compact(sent), slices.Compact(want))
			})
		}
	}
}

// An answer that is sent again uses the token of the person who decided that; later messages do
// not.
func TestAnAnswerSentAgainUsesTheTokenOfThatDecision(t *testing.T) {
	const second = "token-of-the-second"
	w, lost := &world{}, true
	peer := &writer{started: waitingTask("u1", "Delete it?"), now: waitingTask("u1", "Delete it?"), answered: atWork()}
	w.DelegateFn = func(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		if in.Decision == contract.Approved && lost {
			lost = false
			return contract.DelegateResult{}, unknown["unknown"]
		}
		return peer.delegate(ctx, in)
	}
	in := with(tree(ask("clean up")), asApprover)
	in.First.Credential = askersToken
	converse(t, w, in, func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, Credential: approversToken})
		s.rest()
		same(t, "reason", s.pending().Reason, contract.ReasonUnknownOutcome)
		s.decide(contract.DecideSignal{Approved: true, Credential: second})
		s.sleep(time.Minute)
		peer.now = remote(contract.TaskCompleted, "deleted")
		s.sleep(time.Minute)
	})
	var sent []string
	for _, line := range read(w, &w.log) {
		if strings.HasPrefix(line, "regular delegate") {
			sent = append(sent, line[strings.LastIndex(line, " ")+1:])
		}
	}
	same(t, "tokens", slices.Compact(sent), []string{askersToken, approversToken, second, askersToken})
}

func TestTheTokenOfWhoHadALostCallRepeatedIsUsedForIt(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Done.")), CallToolFn: holdTools}
	call := `resources_add{"name":"x","value":1}`
	converse(t, w, with(askedBy(askersToken), asApprover), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.release(call, nil, timedOut())
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, Credential: approversToken})
		s.rest()
		s.release(call, returns("added"), nil)
		s.rest()
	})
	log := read(w, &w.log)
	same(t, "first", log[2], "regular "+call+" "+askersToken)
	same(t, "repeated", log[4], "regular "+call+" "+approversToken)
}

func TestNoTokenIsInWhatPeopleCanRead(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Done."))}
	s := converse(t, w, askedBy(askersToken), func(s *session) {
		clean := func(uuid string) {
			s.rest()
			for what, v := range map[string]any{
				"conversation": s.view(), "request": s.request("r1"), "decision": s.request("d1"), "approval": s.approval(uuid),
				"details":             s.details(contract.ConversationWorkflowID(conversationID)),
				"details of approval": s.details(contract.ApprovalWorkflowID(uuid)),
			} {
				withoutToken(t, what, v)
			}
		}
		s.rest()
		uuid := s.pending().UUID
		clean(uuid)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1", Credential: approversToken})
		caller := s.await("d1")
		clean(uuid)
		withoutToken(t, "await_settled", caller.result)
	})
	for _, e := range read(w, &w.exports) {
		withoutToken(t, "file", e)
	}
	withoutToken(t, "result", s.result())
	withoutToken(t, "model input", read(w, &w.prompts))
	withoutToken(t, "tool input", read(w, &w.calls))
	withoutToken(t, "approvals", s.seen.children)
}

func withoutToken(t *testing.T, what string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{askersToken, approversToken} {
		if strings.Contains(string(data), token) {
			t.Errorf("%s holds a token: %s", what, data)
		}
	}
}

func TestTheNextRunCarriesNoToken(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	s := converse(t, w, askedBy(askersToken), func(s *session) {
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		s.release("generate", says("Hi."), nil)
		s.rest()
	})
	in, ok := s.next()
	if !ok {
		t.Fatal("the run went on")
	}
	withoutToken(t, "input of the next run", in)
}
