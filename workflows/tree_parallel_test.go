package workflows_test

import (
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// approvalOfNode returns the approval that a node waits for.
func (s *session) approvalOfNode(node string) contract.PendingApproval {
	s.t.Helper()
	for _, p := range s.view().Pending {
		if p.Node == node {
			return p
		}
	}
	s.t.Fatalf("node %s waits for nothing; the conversation:\n%s", node, strings.Join(s.masked(), "\n"))
	return contract.PendingApproval{}
}

// waitingNodes returns the nodes of the open approvals, oldest first.
func (s *session) waitingNodes() (out []string) {
	s.t.Helper()
	for _, p := range s.view().Pending {
		out = append(out, p.Node)
	}
	return out
}

func (s *session) approveAt(node, requestID string) {
	s.t.Helper()
	s.decideOn(s.approvalOfNode(node).UUID, contract.DecideSignal{Approved: true, RequestID: requestID})
}

func (s *session) rejectAt(node, requestID string) {
	s.t.Helper()
	s.decideOn(s.approvalOfNode(node).UUID, contract.DecideSignal{RequestID: requestID})
}

// twoAsk returns a node with two branches that ask for an approval, and one that does not.
func twoAsk() (contract.Node, *world) {
	root := sequential("pipeline",
		parallel("both", llm("a", key("ka")), llm("b", key("kb")), llm("quick")),
		llm("last", prompt("last {ka} {kb}", "ka", "kb")))
	return root, &world{GenerateFn: play(map[string][]any{
		"a": {asks(add("x")), says("added x")}, "b": {asks(add("y")), says("added y")},
	})}
}

func TestBranchesAreJoinedInDeclaredOrderWhateverEndsFirst(t *testing.T) {
	root := sequential("pipeline",
		parallel("both", llm("a", key("k")), llm("b", key("k")), llm("c", key("only"))),
		llm("last", prompt("last {k} {only}", "k", "only")))
	w := &world{GenerateFn: play(map[string][]any{"a": {holdModel}, "b": {holdModel}, "c": {holdModel}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "states", s.states(), "pipeline:running[both:running[a:running b:running c:running] last:pending]")
		s.release("generate c", says("third"), nil)
		s.rest()
		same(t, "states", s.states(), "pipeline:running[both:running[a:running b:running c:done] last:pending]")
		s.release("generate b", says("second"), nil)
		s.rest()
		s.release("generate a", says("first"), nil)
		s.rest()
		same(t, "answer", s.answer("r1"), "last second third")
		same(t, "transcript", lines(s.messages()), []string{
			"user: hello", "assistant: [a] first", "assistant: [b] second", "assistant: [c] third", "assistant: [last] last second third",
		})
		same(t, "states", s.states(), "pipeline:done[both:done[a:done b:done c:done] last:done]")
	})
}

func TestTheOutputOfAParallelNodeIsALineABranch(t *testing.T) {
	root := parallel("both", llm("a"), llm("mute"), llm("b"))
	w := &world{GenerateFn: play(map[string][]any{"mute": {contract.GenerateResult{}}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "a\nb")
		s.checkUsable()
	})
}

func TestBranchesSeeTheStateAsItWasAtTheStart(t *testing.T) {
	root := sequential("pipeline", llm("first", key("k")),
		parallel("both", llm("a", key("k")), llm("b", prompt("b {k}", "k"))), llm("last", prompt("last {k}", "k")))
	w := &world{GenerateFn: play(map[string][]any{"b {k}": {holdModel}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "what b sees", w.promptsOf("b {k}")[0].Values, contract.State{{Key: "k", Text: contract.Inline("first")}})
		s.release("generate b {k}", says("b"), nil)
		s.rest()
		same(t, "answer", s.answer("r1"), "last a")
	})
}

func TestSeveralApprovalsOpenAtATimeAreAnsweredInAnyOrder(t *testing.T) {
	root, w := twoAsk()
	s := converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "waiting", len(s.waitingNodes()), 2)
		first, second := s.waitingNodes()[0], s.waitingNodes()[1]
		r := s.request("r1").Result
		same(t, "answered with the first", r.Approval.Node, first)
		same(t, "waiting", r.WaitingApproval, true)
		same(t, "asks", strings.HasSuffix(r.Response.Inline, "Approval UUID: "+r.Approval.UUID), true)
		v := s.view()
		same(t, "paused at", v.Pipeline.Path, s.approvalOfNode(first).NodePath)
		same(t, "under the key", v.Pipeline.OutputKey, "k"+first)
		same(t, "states", s.states(), "pipeline:running[both:running[a:waiting b:waiting quick:done] last:pending]")
		same(t, "file", len(w.exported().Pending), 2)

		s.approveAt(second, "d2")
		s.rest()
		same(t, "waiting", s.waitingNodes(), []string{first})
		same(t, "ran", len(w.ran()), 1)
		d2 := s.request("d2")
		same(t, "the second is settled at once", d2.Settled && d2.Result.WaitingApproval, true)
		same(t, "with the one that waits", d2.Result.Approval.Node, first)
		same(t, "status", s.view().Status, contract.StatusWaitingApproval)
		same(t, "states", strings.Contains(s.states(), second+":done") && strings.Contains(s.states(), first+":waiting"), true)

		s.say("r2", "meanwhile")
		s.rest()
		refused := s.request("r2")
		same(t, "refused", refused.Refused, contract.KindWaiting)
		same(t, "with the one that waits", refused.Result.Approval.Node, first)

		s.approveAt(first, "d1")
		s.rest()
		same(t, "answer", s.answer("d1"), "last added x added y")
		s.checkUsable()
	})
	same(t, "announced too early", s.seen.children[0].AnnouncedTooEarly, false)
}

func TestTwoApprovalsMayBeDecidedAtTheSameMoment(t *testing.T) {
	root, w := twoAsk()
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		a, b := s.approvalOfNode("a").UUID, s.approvalOfNode("b").UUID
		s.decideOn(a, contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.decideOn(b, contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "ran", len(w.ran()), 2)
		last := "last added x added y"
		answers := []string{s.answer("d1"), s.answer("d2")}
		if answers[0] != last && answers[1] != last {
			t.Errorf("neither has the answer: %q", answers)
		}
		same(t, "states", s.states(), "pipeline:done[both:done[a:done b:done quick:done] last:done]")
		s.checkUsable()
	})
}

func TestOneRejectionOfTwoEndsTheTurnOnceTheSiblingsAreDone(t *testing.T) {
	root, w := twoAsk()
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.rejectAt("a", "d1")
		s.rest()
		same(t, "the rejection is settled at once", s.request("d1").Result.WaitingApproval, true)
		same(t, "waiting", s.waitingNodes(), []string{"b"})
		s.approveAt("b", "d2")
		s.rest()
		same(t, "ran", w.ran(), []string{`resources_add{"name":"y","value":1}`})
		same(t, "answer", s.answer("d2"), "Operation cancelled by user.\n\nDone: b, quick.\n\nNot done: a (rejected), last (skipped).")
		same(t, "states", s.states(), "pipeline:rejected[both:rejected[a:rejected b:done quick:done] last:pending]")
		s.checkUsable()
	})
}

func TestARejectionWhileASiblingWorksIsAnsweredInTheEnd(t *testing.T) {
	root := parallel("both", llm("a"), llm("slow"))
	w := &world{GenerateFn: play(map[string][]any{"a": {asks(add("x"))}, "slow": {holdModel}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.rejectAt("a", "d1")
		s.rest()
		s.unsettled("d1")
		same(t, "status", s.view().Status, contract.StatusActive)
		s.say("r2", "queued")
		s.release("generate slow", says("slow"), nil)
		s.rest()
		same(t, "answer", s.answer("d1"), "Operation cancelled by user.\n\nDone: slow.\n\nNot done: a (rejected).")
		s.rest()
	})
}

func TestDestructiveCallsOfBranchesRunUnaskedWhereNothingAsksForThem(t *testing.T) {
	root := parallel("both", llm("a", atOnce), sequential("inner", llm("b", atOnce)))
	w := &world{GenerateFn: play(map[string][]any{
		"a": {asks(add("x")), says("a")}, "b": {asks(add("y")), says("b")},
	})}
	s := converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "a\nb")
		same(t, "ran", len(w.ran()), 2)
	})
	same(t, "approvals", len(s.seen.children), 0)
	same(t, "attempts", s.seen.options(contract.ActivityCallTool.Name).Attempts, int32(1))
}

func TestACallWhoseAnswerIsLostAsksEvenWhereNothingElseDoes(t *testing.T) {
	root := parallel("both", llm("a", atOnce), llm("b"))
	w := &world{GenerateFn: play(map[string][]any{"a": {asks(add("x")), says("a")}}), CallToolFn: holdTools}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.release(`resources_add{"name":"x","value":1}`, nil, timedOut())
		s.rest()
		same(t, "reason", s.pending().Reason, contract.ReasonUnknownOutcome)
		same(t, "asks", strings.HasPrefix(s.pending().Description, "**OUTCOME UNKNOWN: resources_add**"), true)
		s.decide(contract.DecideSignal{RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "a\nb")
	})
}

func TestTheFirstFailureStopsTheOthersWhereThatIsWanted(t *testing.T) {
	root := sequential("pipeline", within(parallel("both", llm("bad"), llm("slow"), sequential("inner", llm("deep")), llm("asker")), failFast), llm("last"))
	w := &world{GenerateFn: play(map[string][]any{"bad": {holdModel}, "slow": {holdModel}, "deep": {holdModel}, "asker": {asks(add("x"))}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		uuid := s.approvalOfNode("asker").UUID
		s.release("generate bad", nil, fails(contract.KindModelAuth, "no key"))
		s.rest()
		same(t, "states", s.states(), "pipeline:done[both:failed[bad:failed slow:cancelled inner:cancelled[deep:cancelled] asker:cancelled] last:done]")
		same(t, "approval", s.approval(uuid).Result.Decision, contract.Cancelled)
		s.checkUsable()
	})
}

func TestASiblingThatWasStoppedDoesNotSpeakOfACancelledTurn(t *testing.T) {
	root := sequential("pipeline", within(parallel("both", llm("bad"), llm("slow")), failFast), llm("last"))
	w := &world{GenerateFn: play(map[string][]any{"bad": {fails(contract.KindModelAuth, "no key")}, "slow": {holdModel}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "last")
		for _, l := range lines(s.messages()) {
			if strings.Contains(l, "turn was cancelled") {
				t.Errorf("the turn goes on, yet it says %q", l)
			}
		}
	})
}

func TestSiblingsSurviveAFailure(t *testing.T) {
	root := parallel("both", llm("bad"), llm("slow"))
	w := &world{GenerateFn: play(map[string][]any{"bad": {fails(contract.KindModelAuth, "no key")}, "slow": {holdModel}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.release("generate slow", says("slow"), nil)
		s.rest()
		same(t, "answer", s.answer("r1"), "LLM error: no key\nslow")
		same(t, "states", s.states(), "both:done[bad:failed slow:done]")
	})
}

func TestAParallelNodeFailsWhenAllBranchesDo(t *testing.T) {
	bad := fails(contract.KindModelAuth, "no key")
	root := sequential("pipeline", within(parallel("both", llm("a", key("k")), llm("b", key("k"))), key("k")), llm("last", prompt("last {k}", "k")))
	w := &world{GenerateFn: play(map[string][]any{"a": {bad}, "b": {bad}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "states", s.states(), "pipeline:done[both:failed[a:failed b:failed] last:done]")
		same(t, "answer", s.answer("r1"), "last ")
		s.checkUsable()
	})
}

func TestTheUserHasToLogInButTheOtherBranchesFinish(t *testing.T) {
	peer := &contract.Peer{Name: "writer"}
	root := sequential("pipeline", parallel("both", contract.Node{Name: "ask", Type: contract.NodeA2A, Peer: peer}, llm("slow", key("k"))), llm("never"))
	w := &world{
		GenerateFn: play(map[string][]any{"slow": {holdModel}}),
		DelegateFn: answers(contract.DelegateResult{State: contract.TaskAuthRequired, Text: contract.Inline("Log in at https://writer.")}),
	}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.unsettled("r1")
		s.release("generate slow", says("slow"), nil)
		s.rest()
		r := s.request("r1").Result
		same(t, "auth required", r.AuthRequired, true)
		same(t, "answer", r.Response.Inline, "Log in at https://writer.\nslow")
		same(t, "asked", w.asked(), []string{"slow"})
		s.checkUsable()
	})
}

func TestATokenGivenInABranchStaysInTheBranch(t *testing.T) {
	root := parallel("both", llm("asker"), llm("worker"))
	w := &world{GenerateFn: play(map[string][]any{
		"asker": {asks(add("x")), says("done")}, "worker": {holdModel, says("worked")},
	})}
	in := tree(root)
	in.First.Credential = askersToken
	converse(t, w, in, func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1", Credential: approversToken})
		s.rest()
		s.release("generate worker", asks(list("q")), nil)
		s.rest()
		same(t, "answer", s.answer("d1"), "done\nworked")
	})
	same(t, "the sibling's call", slices.Contains(read(w, &w.log), `regular resources_list{"pattern":"q"} `+askersToken), true)
}
