package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

func history(n *contract.Node) { n.History = true }

func limit(d time.Duration) func(*contract.Node) { return func(n *contract.Node) { n.Timeout = d } }

// within changes a composite node.
func within(n contract.Node, change ...func(*contract.Node)) contract.Node {
	for _, c := range change {
		c(&n)
	}
	return n
}

// promptsOf returns the model calls of the node with this prompt.
func (w *world) promptsOf(prompt string) (out []contract.GenerateInput) {
	for _, in := range read(w, &w.prompts) {
		if in.Prompt.Inline == prompt {
			out = append(out, in)
		}
	}
	return out
}

// asked lists the prompts of the model calls.
func (w *world) asked() (out []string) {
	for _, in := range read(w, &w.prompts) {
		out = append(out, in.Prompt.Inline)
	}
	return out
}

// uniqueIDs checks that all message IDs are distinct.
func uniqueIDs(t *testing.T, messages []contract.Message) {
	t.Helper()
	seen := map[string]bool{}
	for _, m := range messages {
		if !contract.IsUUID(m.ID) || seen[m.ID] {
			t.Errorf("message id %q is not one of its own: %s", m.ID, line(m))
		}
		seen[m.ID] = true
	}
}

// masked returns the transcript with the UUIDs of approvals masked.
func (s *session) masked() (out []string) {
	s.t.Helper()
	for _, l := range lines(s.messages()) {
		if text, _, asked := strings.Cut(l, "Approval UUID: "); asked {
			l = text + "Approval UUID: UUID"
		}
		out = append(out, l)
	}
	return out
}

// checkUsable checks that nothing is left running and that the next message is answered.
func (s *session) checkUsable() {
	s.t.Helper()
	s.nothingWaits()
	same(s.t, "status", s.view().Status, contract.StatusActive)
	s.world.GenerateFn = play(nil)
	s.world.CallToolFn, s.world.DelegateFn = nil, nil
	s.say("next", "next")
	s.rest()
	if r := s.request("next"); !r.Settled || r.Refused != "" || r.Result.WaitingApproval {
		s.t.Errorf("the next message: %+v", r)
	}
	uniqueIDs(s.t, s.messages())
}

func TestAFailingNodeBecomesTextAndTheNextNodeRuns(t *testing.T) {
	root := sequential("pipeline", llm("find", key("found")), llm("report", prompt("report {found}", "found")))
	w := &world{GenerateFn: play(map[string][]any{"find": {fails(contract.KindModelAuth, "no key")}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "report ")
		same(t, "transcript", lines(s.messages()), []string{
			"user: hello", "assistant: [find] LLM error: no key", "assistant: [report] report ",
		})
		same(t, "values", w.promptsOf("report {found}")[0].Values, contract.State{{Key: "found"}})
		same(t, "states", s.states(), "pipeline:done[find:failed report:done]")
		s.checkUsable()
	})
}

func TestTheLastNodesFailureIsTheSequences(t *testing.T) {
	root := sequential("pipeline", llm("find"), llm("report"))
	w := &world{GenerateFn: play(map[string][]any{"report": {fails(contract.KindModelAuth, "no key")}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "LLM error: no key")
		same(t, "states", s.states(), "pipeline:failed[find:done report:failed]")
		s.checkUsable()
	})
}

func TestAFailureIsSaidOnce(t *testing.T) {
	root := sequential("pipeline", llm("find"), llm("report"))
	w := &world{GenerateFn: play(map[string][]any{"report": {fails(contract.KindModelAuth, "no key")}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		n := 0
		for _, l := range lines(s.messages()) {
			if strings.Contains(l, "no key") {
				n++
			}
		}
		same(t, "messages that tell of the failure", n, 1)
	})
}

func TestASequenceWithoutOutputSaysSo(t *testing.T) {
	root := sequential("pipeline", llm("find", key("found")), llm("report", prompt("report {found}", "found")))
	w := &world{GenerateFn: func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
		return contract.GenerateResult{}, nil
	}}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "No node of the agent had anything to say.")
		same(t, "transcript", lines(s.messages()), []string{"user: hello", "assistant: No node of the agent had anything to say."})
		same(t, "values", read(w, &w.prompts)[1].Values, contract.State{{Key: "found"}})
	})
}

func TestTheOutputOfASequenceIsTheLastOneThatIsNotEmpty(t *testing.T) {
	root := sequential("pipeline", llm("find"), llm("mute"))
	w := &world{GenerateFn: play(map[string][]any{"mute": {contract.GenerateResult{}}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "find")
	})
}

func TestARejectionMayBeAnOutputLikeAnyOther(t *testing.T) {
	root := sequential("pipeline", llm("write", goOn, key("written")), llm("tell", prompt("tell {written}", "written")))
	w := &world{GenerateFn: play(map[string][]any{"write": {asks(add("x"))}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "tell Operation cancelled by user.")
		same(t, "states", s.states(), "pipeline:done[write:rejected tell:done]")
		same(t, "ran", w.ran(), nil)
		s.checkUsable()
	})
}

func TestARejectionInsideACompositeThatGoesOn(t *testing.T) {
	inner := within(sequential("inner", llm("write"), llm("never")), goOn, key("written"))
	root := sequential("pipeline", inner, llm("tell", prompt("tell {written}", "written")))
	w := &world{GenerateFn: play(map[string][]any{"write": {asks(add("x"))}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "tell Operation cancelled by user.")
		same(t, "asked", w.asked(), []string{"write", "tell {written}"})
	})
}

func TestARootThatGoesOnAnswersWithTheRejection(t *testing.T) {
	root := within(sequential("pipeline", llm("write"), llm("never")), goOn)
	w := &world{GenerateFn: play(map[string][]any{"write": {asks(add("x"))}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "Operation cancelled by user.")
		same(t, "asked", w.asked(), []string{"write"})
	})
}

func TestANodeGoesBackToItsModelOnlySoOften(t *testing.T) {
	root := sequential("pipeline", llm("find", key("found"), func(n *contract.Node) { n.MaxToolRounds = 2 }), llm("report", prompt("report {found}", "found")))
	w := &world{GenerateFn: play(map[string][]any{"find": {asks(list("a")), asks(list("b")), says("unheard")}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "report ")
		same(t, "states", s.states(), "pipeline:done[find:failed report:done]")
		same(t, "end", lines(s.messages())[5], "assistant: [find] Maximum tool call iterations reached.")
	})
}

func TestAnApprovalOpensAFreshRoundOfToolCalls(t *testing.T) {
	root := sequential("pipeline", llm("find", func(n *contract.Node) { n.MaxToolRounds = 1 }))
	w := &world{GenerateFn: play(map[string][]any{"find": {asks(add("a")), asks(add("b")), says("done")}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "answer", s.answer("d2"), "done")
	})
}

func TestALoneNodeHasItsOwnPromptAndModelAndSeesTheConversation(t *testing.T) {
	root := llm("helper", prompt("help with {user_message} and {nothing}", "user_message", "nothing"))
	root.Model, root.Tools = "demo:other", []string{"resources"}
	w := &world{GenerateFn: script(says("one"), asks(add("x")), says("two"))}
	in := tree(root)
	in.Agent.Node = "helper"
	s := converse(t, w, in, func(s *session) {
		s.rest()
		s.say("r2", "again")
		s.rest()
		p := s.pending()
		same(t, "path", len(p.NodePath), 0)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "two")
		same(t, "transcript", s.lines(), []string{
			"user: hello", "assistant: one", "user: again", `call resources_add {"name":"x","value":1}`,
			"assistant: This action requires approval:\n\n**ADD Resource**\n\nName: x\nValue: 1\n\nPlease approve or reject using the approval UUID: UUID",
			"user: [APPROVAL]: Approved", "result resources_add: resources_add done", "assistant: two",
		})
		same(t, "states", s.states(), "helper:done")
	})
	first, second := read(w, &w.prompts)[0], read(w, &w.prompts)[1]
	same(t, "model", first.Model, "demo:other")
	same(t, "prompt", first.Prompt.Inline, "help with {user_message} and {nothing}")
	same(t, "values", first.Values, contract.State{{Key: "user_message", Text: contract.Inline("hello")}, {Key: "nothing"}})
	same(t, "tools", first.Tools, []string{"resources"})
	same(t, "values of the next turn", second.Values, contract.State{{Key: "user_message", Text: contract.Inline("again")}, {Key: "nothing"}})
	same(t, "sees", lines(second.Transcript.Tail), []string{"user: hello", "assistant: one", "user: again"})
	same(t, "before", second.Before == nil, true)
	same(t, "workflows", len(s.seen.nodes), 0)
}

func TestANodeSeesTheUsersMessageAndWithHistoryTheConversation(t *testing.T) {
	root := sequential("pipeline", llm("new"), sequential("inner", llm("knows", history), llm("fresh")))
	w := &world{GenerateFn: play(map[string][]any{"knows": {says("k1"), says("k2")}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.say("r2", "again")
		s.rest()
		same(t, "answer", s.answer("r2"), "fresh")
	})
	second := func(p string) contract.GenerateInput { return w.promptsOf(p)[1] }
	same(t, "without", lines(load(t, w, *second("new").Before)), []string{"user: again"})
	same(t, "beside", lines(load(t, w, *second("fresh").Before)), []string{"user: again"})
	same(t, "with", lines(load(t, w, *second("knows").Before)), []string{
		"user: hello", "assistant: [new] new", "assistant: [knows] k1", "assistant: [fresh] fresh", "user: again",
	})
	same(t, "its own", len(second("knows").Transcript.Tail), 0)
}

func TestHistoryMayBeFolded(t *testing.T) {
	long := strings.Repeat("long ", 300)
	root := sequential("pipeline", llm("one"), llm("knows", history))
	w := &world{GenerateFn: play(map[string][]any{"one": {says(long), says(long), says(long)}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.say("r2", "two")
		s.rest()
		s.say("r3", "three")
		s.rest()
		same(t, "answer", s.answer("r3"), "knows")
	})
	before := w.promptsOf("knows")[2].Before
	same(t, "folded", before.Head != nil, true)
	same(t, "user", line(before.Tail[len(before.Tail)-1]), "user: three")
	same(t, "sees", lines(load(t, w, *before)), []string{
		"user: hello", "assistant: [one] " + long, "assistant: [knows] knows",
		"user: two", "assistant: [one] " + long, "assistant: [knows] knows", "user: three",
	})
}

func TestANodeIsOfferedWhatItMayUse(t *testing.T) {
	peers := []contract.Peer{{Name: "writer", URL: "http://writer"}}
	root := sequential("pipeline",
		llm("all"),
		llm("none", func(n *contract.Node) { n.Tools = []string{} }),
		llm("some", func(n *contract.Node) { n.Tools, n.Peers, n.CanExitLoop = []string{"resources"}, peers, true }),
	)
	w := &world{GenerateFn: play(nil)}
	converse(t, w, tree(root), func(s *session) { s.rest() })
	same(t, "all", w.promptsOf("all")[0].Tools == nil, true)
	none := w.promptsOf("none")[0].Tools
	same(t, "none", none != nil && len(none) == 0, true)
	some := w.promptsOf("some")[0]
	same(t, "some", some.Tools, []string{"resources"})
	same(t, "peers", some.Peers, peers)
	same(t, "exit", some.ExitLoop, true)
	same(t, "all may not exit", w.promptsOf("all")[0].ExitLoop, false)
}

func TestMessagesSayWhichNodeWroteThem(t *testing.T) {
	root := sequential("pipeline", llm("find"), parallel("both", llm("a"), sequential("deep", llm("b"))))
	w := &world{GenerateFn: play(map[string][]any{"b": {asks(list("q")), asks(add("x")), says("b")}})}
	s := converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "path", s.pending().NodePath, []int{1, 1, 0})
		uniqueIDs(t, s.messages())
		early := s.messages()
		s.approve()
		s.rest()
		all := s.messages()
		uniqueIDs(t, all)
		var nodes []string
		for _, m := range all {
			nodes = append(nodes, m.Node)
		}
		same(t, "nodes", nodes, []string{"", "find", "a", "b", "b", "b", "b", "b", "b", "b"})
		for _, m := range early {
			same(t, "id of "+line(m), contains(all, m.ID), true)
		}
	})
	var summaries []string
	for _, n := range s.seen.nodes {
		summaries = append(summaries, n.Summary)
	}
	same(t, "summaries", summaries, []string{"pipeline · sequential of 2", "both · parallel of 2", "deep · sequential of 1"})
}

func contains(messages []contract.Message, id string) bool {
	for _, m := range messages {
		if m.ID == id {
			return true
		}
	}
	return false
}

func TestMessageIDsAreTheSameInEveryRunOfTheSameTree(t *testing.T) {
	ids := func() (out []string) {
		root := sequential("pipeline", llm("find"), parallel("both", llm("a"), sequential("deep", llm("b"))))
		w := &world{GenerateFn: play(map[string][]any{"b": {asks(list("q")), says("b")}})}
		converse(t, w, tree(root), func(s *session) {
			s.rest()
			for _, m := range s.messages() {
				out = append(out, m.ID)
			}
		})
		return out
	}
	same(t, "ids", ids(), ids())
}

func TestTheTokenOfWhoAskedIsUsedByWhatComesAfterAnApproval(t *testing.T) {
	root := sequential("pipeline",
		llm("first"),
		sequential("inner", llm("asker"), llm("sibling")),
		llm("after"), parallel("both", llm("branch")))
	w := &world{GenerateFn: play(map[string][]any{"asker": {asks(add("x")), asks(list("q")), says("done")}})}
	in := with(tree(root), asApprover)
	in.First.Credential = askersToken
	s := converse(t, w, in, func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1", Credential: approversToken})
		s.rest()
		same(t, "answer", s.answer("d1"), "branch")
		withoutToken(t, "conversation", s.view())
		withoutToken(t, "tree", s.tree())
	})
	var log []string
	for _, l := range read(w, &w.log) {
		if !strings.Contains(l, "export") {
			log = append(log, l)
		}
	}
	same(t, "calls", log, []string{
		"regular generate " + askersToken, "regular generate " + askersToken,
		`regular resources_add{"name":"x","value":1} ` + approversToken, "regular generate " + askersToken,
		`regular resources_list{"pattern":"q"} ` + askersToken, "regular generate " + askersToken,
		"regular generate " + askersToken, "regular generate " + askersToken, "regular generate " + askersToken,
	})
	last := s.seen.nodes[len(s.seen.nodes)-1]
	same(t, "passed to the next composite", last.Input.Credential, askersToken)
}

func TestASequenceStopsWhenTheUserHasToLogIn(t *testing.T) {
	root := sequential("pipeline", sequential("inner", llm("find", key("k"))), llm("never"))
	w := &world{
		GenerateFn: play(map[string][]any{"find": {asks(list("a"))}}),
		CallToolFn: func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
			return contract.CallToolResult{AuthRequired: "files", IsError: true}, nil
		},
	}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		r := s.request("r1")
		same(t, "auth required", r.Result.AuthRequired, true)
		same(t, "answer", r.Result.Response.Inline, "Authentication required to access the files server.")
		same(t, "states", s.states(), "pipeline:failed[inner:failed[find:failed] never:pending]")
		s.checkUsable()
	})
}

func TestALongSequenceContinuesAsNewAndLosesNothing(t *testing.T) {
	const steps = 12
	run := func(rollOver int) (answer string, said []string, view contract.ConversationView, s *session) {
		var nodes []contract.Node
		for i := range steps {
			p := fmt.Sprintf("n%d after {k%d}", i, i-1)
			nodes = append(nodes, llm(fmt.Sprintf("n%d", i), prompt(p, fmt.Sprintf("k%d", i-1)), key(fmt.Sprintf("k%d", i))))
		}
		nodes[6] = sequential("inner", nodes[6])
		w := &world{GenerateFn: play(nil)}
		s = newSession(t, w, contract.ConversationWorkflowID(conversationID))
		s.nodesRollOverAfter(rollOver)
		s.run(contract.WorkflowConversation, tree(sequential("pipeline", nodes...)), func(s *session) {
			s.rest()
			answer, said, view = s.answer("r1"), lines(s.messages()), s.view()
			uniqueIDs(t, s.messages())
		}, func() { s.close("", "") })
		return answer, said, view, s
	}
	answer, said, view, _ := run(0)
	again, saidAgain, viewAgain, s := run(4)
	same(t, "answer", again, answer)
	same(t, "transcript", saidAgain, said)
	same(t, "usage", viewAgain.Usage, view.Usage)
	if s.seen.continued < 2 {
		t.Errorf("continued as new %d times", s.seen.continued)
	}
}

func TestAnApprovalInATreeExpires(t *testing.T) {
	in := tree(sequential("pipeline", llm("find"), llm("write"), llm("tell")))
	in.Agent.ApprovalTimeout = time.Hour
	w := &world{GenerateFn: play(map[string][]any{"write": {asks(add("x"))}})}
	converse(t, w, in, func(s *session) {
		s.rest()
		s.pending()
		s.sleep(2 * time.Hour)
		said := lines(s.messages())
		same(t, "end", said[len(said)-1],
			"assistant: The approval expired; nothing was done.\n\nDone: find.\n\nNot done: write (rejected), tell (skipped).")
		same(t, "ran", w.ran(), nil)
		s.checkUsable()
	})
}

func TestAnApprovalInATreeIsWithdrawnByHand(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"write": {asks(add("x"))}})}
	converse(t, w, tree(parallel("both", sequential("inner", llm("write")), llm("tell"))), func(s *session) {
		s.rest()
		s.env.CancelWorkflowByID(contract.ApprovalWorkflowID(s.pending().UUID), "")
		s.rest()
		same(t, "states", s.states(), "both:rejected[inner:rejected[write:rejected] tell:done]")
		same(t, "ran", w.ran(), nil)
		s.checkUsable()
	})
}

func TestALeanTreeRunsItsCallsLocally(t *testing.T) {
	in := tree(sequential("pipeline", parallel("both", llm("a"), sequential("inner", llm("b")))))
	in.Agent.Execution = contract.ExecutionLean
	w := &world{GenerateFn: play(map[string][]any{"b": {asks(list("q"), add("x")), says("b")}})}
	s := converse(t, w, in, func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "a\nb")
	})
	for _, c := range s.seen.scheduled {
		if c.Local == strings.HasPrefix(c.Summary, "resources_add") {
			t.Errorf("local is %t for %s", c.Local, c.Summary)
		}
	}
}

func TestNoTokenIsInWhatPeopleCanReadOfATree(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"write": {asks(add("x")), says("done")}})}
	in := tree(sequential("pipeline", parallel("both", sequential("inner", llm("write")), llm("tell")), llm("last")))
	in.First.Credential = askersToken
	s := converse(t, w, in, func(s *session) {
		s.rest()
		for range 2 {
			withoutToken(t, "conversation", s.view())
			withoutToken(t, "tree", s.tree())
			withoutToken(t, "request", s.request("r1"))
			for _, n := range s.seen.nodes {
				withoutToken(t, "details", s.details(n.ID))
			}
			if len(s.view().Pending) > 0 {
				s.decide(contract.DecideSignal{Approved: true, RequestID: "d1", Credential: approversToken})
				s.rest()
			}
		}
		withoutToken(t, "decision", s.request("d1"))
	})
	for _, e := range read(w, &w.exports) {
		withoutToken(t, "file", e)
	}
	withoutToken(t, "result", s.result())
	withoutToken(t, "model input", read(w, &w.prompts))
	withoutToken(t, "tool input", read(w, &w.calls))
}

func TestAPlaceholderWithoutAValueIsEmptyAndPeopleAreTold(t *testing.T) {
	tell := llm("tell", prompt("tell {found} {later}", "found", "later"))
	tell.Expects = []string{"found"}
	root := sequential("pipeline", llm("find", key("found")), tell, llm("last", key("later")))
	w := &world{GenerateFn: play(map[string][]any{"find": {fails(contract.KindModelRequest, "no key")}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "transcript", s.lines()[2:4], []string{
			"assistant: [tell] {found} is empty in the prompt: no node before this one has left a value.", "assistant: [tell] tell  ",
		})
		same(t, "values", w.promptsOf("tell {found} {later}")[0].Values, contract.State{{Key: "found"}, {Key: "later"}})
		same(t, "states", s.states(), "pipeline:done[find:failed tell:done last:done]")
	})
	w = &world{GenerateFn: play(nil)}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "transcript", s.lines()[2:3], []string{"assistant: [tell] tell find "})
	})
}
