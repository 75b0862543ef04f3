package workflows_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
)

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestAMessageGetsTheModelsReply(t *testing.T) {
	w := &world{GenerateFn: script(says("Hi there."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "Hi there.")
		same(t, "transcript", s.lines(), []string{"system: Be brief.", "user: hello", "assistant: Hi there."})
		v := s.view()
		same(t, "status", v.Status, contract.StatusActive)
		same(t, "usage", v.Usage, contract.Usage{InputTokens: 10, OutputTokens: 2})
		if v.Running || v.Queued != 0 {
			t.Errorf("the turn is over, yet running=%v queued=%d", v.Running, v.Queued)
		}
	})
	asked := read(w, &w.prompts)[0]
	same(t, "what the model saw", lines(asked.Transcript.Tail), []string{"system: Be brief.", "user: hello"})
	same(t, "model", asked.Model, "demo:rules")
	same(t, "prompt", asked.Prompt.Inline, systemPrompt)
}

func TestTheAnswerComesOnlyAfterTheExport(t *testing.T) {
	w := &world{GenerateFn: script(says("Hi."))}
	w.ExportFn = func(context.Context, contract.ExportInput) (contract.ExportResult, error) {
		w.mark("export")
		return contract.ExportResult{}, nil
	}
	converse(t, w, hello(), func(s *session) {
		caller := s.awaitThen(func() { w.mark("answer") }, "r1")
		s.rest()
		same(t, "answered", caller.ids(), []string{"r1"})
		same(t, "answer", caller.result.Settled[0].Result.Response.Inline, "Hi.")
		same(t, "conversation beside it", lines(caller.result.Conversation.Transcript.Tail), s.lines())
		same(t, "order", read(w, &w.marks), []string{"export", "answer"})
		same(t, "file", lines(w.exported().Transcript.Tail), s.lines())
	})
}

func TestTheFileOfAFinishedTurnDoesNotSayItRuns(t *testing.T) {
	w := &world{}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		if w.exported().Running {
			t.Error("the file says that a turn is running")
		}
		if d := s.details(contract.ConversationWorkflowID(conversationID)); !strings.Contains(d, "Ready for a message") {
			t.Errorf("details of an idle conversation:\n%s", d)
		}
	})
}

func TestAConversationWithoutMessageIsExportedAtOnce(t *testing.T) {
	w := &world{}
	converse(t, w, silent(), func(s *session) {
		s.rest()
		same(t, "file", lines(w.exported().Transcript.Tail), []string{"system: Be brief."})
		same(t, "model calls", len(read(w, &w.prompts)), 0)
	})
}

func TestNoPromptMeansNoSystemMessage(t *testing.T) {
	in := with(hello(), func(a *contract.Agent) { a.Prompt = contract.Text{} })
	converse(t, &world{}, in, func(s *session) {
		s.rest()
		same(t, "transcript", s.lines(), []string{"user: hello", "assistant: Hello!"})
	})
}

func TestTheModelIsAskedAgainWithTheToolsResult(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a")), says("Nothing there."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		want := []string{
			"system: Be brief.", "user: hello", `call resources_list {"pattern":"a"}`,
			"result resources_list: resources_list done", "assistant: Nothing there.",
		}
		same(t, "transcript", s.lines(), want)
		same(t, "second prompt", lines(read(w, &w.prompts)[1].Transcript.Tail), want[:4])
		same(t, "usage", s.view().Usage, contract.Usage{InputTokens: 30, OutputTokens: 6, CachedTokens: 1})

		m := s.view().Transcript.Tail
		if m[2].Reply == "" || m[2].Reply != m[3].Reply || m[2].ToolCall.ID != m[3].ToolCall.ID {
			t.Errorf("call and result do not belong together: %+v, %+v", m[2], m[3])
		}
		made := read(w, &w.calls)[0]
		same(t, "idempotency key", made.IdempotencyKey, m[2].ID)
		same(t, "session", made.SessionID, "sid-1")
		same(t, "conversation", made.ConversationID, conversationID)
		same(t, "digest", made.SHA256, contract.Hash(made.Arguments.Raw))
	})
}

func TestTextBesideCallsIsKept(t *testing.T) {
	reply := asks(list("a"), list("b"))
	reply.Text = contract.Inline("Let me look.")
	w := &world{GenerateFn: script(reply, says("Done."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "transcript", s.lines()[2:], []string{
			"assistant: Let me look.",
			`call resources_list {"pattern":"a"}`, `call resources_list {"pattern":"b"}`,
			"result resources_list: resources_list done", "result resources_list: resources_list done",
			"assistant: Done.",
		})
		m := s.view().Transcript.Tail
		same(t, "one reply", []string{m[3].Reply, m[4].Reply, m[5].Reply, m[6].Reply}, []string{m[2].Reply, m[2].Reply, m[2].Reply, m[2].Reply})
	})
}

func TestReadOnlyCallsOfAReplyRunSideBySide(t *testing.T) {
	for _, mode := range []contract.Execution{contract.ExecutionRegular, contract.ExecutionLean, contract.ExecutionAuto} {
		t.Run(string(mode), func(t *testing.T) {
			var running sync.WaitGroup
			running.Add(3)
			w := &world{GenerateFn: script(asks(list("a"), list("b"), list("c")), says("Done."))}
			w.CallToolFn = func(_ context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
				running.Done()
				running.Wait() // each returns only once all three run
				return returns(string(in.Arguments.Raw)), nil
			}
			converse(t, w, with(hello(), func(a *contract.Agent) { a.Execution = mode }), func(s *session) {
				s.rest()
				same(t, "results, in the order of the calls", s.lines()[5:8], []string{
					`result resources_list: {"pattern":"a"}`, `result resources_list: {"pattern":"b"}`, `result resources_list: {"pattern":"c"}`,
				})
			})
		})
	}
}

func TestADestructiveCallIsABarrier(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a"), list("b"), add("x"), list("c")), says("Done.")), CallToolFn: holdTools}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "before the decision", w.ran(), nil)
		s.approve()
		s.rest()
		ran := w.ran()
		slices.Sort(ran)
		same(t, "first", ran, []string{`resources_list{"pattern":"a"}`, `resources_list{"pattern":"b"}`})
		s.release(`resources_list{"pattern":"a"}`, returns("a"), nil)
		s.rest()
		same(t, "calls while one still runs", len(w.ran()), 2)
		s.release(`resources_list{"pattern":"b"}`, returns("b"), nil)
		s.rest()
		same(t, "then", w.ran()[2:], []string{`resources_add{"name":"x","value":1}`})
		s.release(`resources_add{"name":"x","value":1}`, returns("added"), nil)
		s.rest()
		same(t, "last", w.ran()[3:], []string{`resources_list{"pattern":"c"}`})
		s.release(`resources_list{"pattern":"c"}`, returns("c"), nil)
		s.rest()
		same(t, "results", s.lines()[8:], []string{
			"result resources_list: a", "result resources_list: b", "result resources_add: added", "result resources_list: c",
			"assistant: Done.",
		})
	})
}

func TestATurnGivesUpAfterTenRounds(t *testing.T) {
	w := &world{GenerateFn: func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
		return asks(list("a")), nil
	}}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "Maximum tool call iterations reached.")
		same(t, "messages", s.view().Transcript.Len(), 23)
		same(t, "model calls", len(read(w, &w.prompts)), 10)
	})
}

func TestADecisionOpensAFreshBudgetOfRounds(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a")), asks(add("x")), asks(list("b")), asks(list("c")), says("too late"))}
	converse(t, w, with(hello(), func(a *contract.Agent) { a.MaxToolRounds = 2 }), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		same(t, "last message", s.lines()[len(s.lines())-1], "assistant: Maximum tool call iterations reached.")
		same(t, "calls", len(w.ran()), 4)
	})
}

func TestOneRoundMeansOneModelCall(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a")), says("unheard"))}
	converse(t, w, with(hello(), func(a *contract.Agent) { a.MaxToolRounds = 1 }), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "Maximum tool call iterations reached.")
		same(t, "model calls", len(read(w, &w.prompts)), 1)
	})
}

func TestACallThatCannotBeMadeIsAnsweredWithoutATool(t *testing.T) {
	unknown := contract.Call{ID: "u", Name: "fly", Unknown: true}
	bad := list("b")
	bad.Problem = "pattern: must be a string"
	w := &world{GenerateFn: script(asks(unknown, bad, list("a")), says("Sorry."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "ran", w.ran(), []string{`resources_list{"pattern":"a"}`})
		same(t, "results", s.lines()[5:], []string{
			"failed fly: Tool not found: fly", "failed resources_list: pattern: must be a string",
			"result resources_list: resources_list done", "assistant: Sorry.",
		})
	})
}

func TestAToolThatWantsALoginEndsTheTurn(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a"), add("x")), says("unheard"))}
	w.CallToolFn = func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
		return contract.CallToolResult{Text: contract.Inline("401"), IsError: true, AuthRequired: "resources", Note: "the login has expired"}, nil
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		r := s.request("d1").Result
		same(t, "answer", r.Response.Inline, "Authentication required to access the resources server.")
		same(t, "auth required", r.AuthRequired, true)
		same(t, "ran", w.ran(), []string{`resources_list{"pattern":"a"}`})
		tail := s.view().Transcript.Tail
		same(t, "note", tail[len(tail)-2].ToolCall.Note, "the login has expired")
	})
}

func TestFoldedMessagesLeaveTheTail(t *testing.T) {
	head := contract.Head{Blob: contract.NewBlob([]byte("older messages")), Count: 2}
	folding := asks(list("a"))
	folding.Offloaded = &contract.Offloaded{Head: head, Count: 2}
	w := &world{GenerateFn: script(folding, says("Done."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		want := contract.Transcript{Head: &head, Tail: s.view().Transcript.Tail}
		same(t, "tail", lines(want.Tail), []string{
			`call resources_list {"pattern":"a"}`, "result resources_list: resources_list done", "assistant: Done.",
		})
		same(t, "messages", s.view().Transcript.Len(), 5)
		same(t, "second prompt", read(w, &w.prompts)[1].Transcript, contract.Transcript{Head: &head, Tail: want.Tail[:2]})
		same(t, "file", w.exported().Transcript, want)
	})
	same(t, "summary", "demo:rules · 4 messages", converse(t, &world{GenerateFn: script(folding, says("Done."))}, hello(),
		func(s *session) { s.rest() }).seen.options("generate").Summary)
}

func TestAMessageCarriesTheNodeThatWroteIt(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a")), says("Done."))}
	converse(t, w, with(hello(), func(a *contract.Agent) { a.Node = "analyst" }), func(s *session) {
		s.rest()
		var nodes []string
		for _, m := range s.view().Transcript.Tail {
			nodes = append(nodes, m.Node)
		}
		same(t, "nodes", nodes, []string{"", "", "analyst", "analyst", "analyst"})
	})
}

func TestActivitiesRunByTheTableOfTimeoutsAndSayWhatTheyDo(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a")), asks(add("x")), says("Done."))}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
	})
	want := []scheduled{
		{Name: "generate", Summary: "demo:rules · 2 messages", Attempts: 3, Timeout: 65 * time.Second},
		{Name: "call_tool", Summary: "resources_list on resources", Attempts: 3, Timeout: 35 * time.Second},
		{Name: "generate", Summary: "demo:rules · 4 messages", Attempts: 3, Timeout: 65 * time.Second},
		{Name: "export_conversation", Summary: "conversation file", Local: true, Attempts: 3, Timeout: 5 * time.Second},
		{Name: "call_tool", Summary: "resources_add on resources", Attempts: 1, Timeout: 35 * time.Second},
		{Name: "generate", Summary: "demo:rules · 8 messages", Attempts: 3, Timeout: 65 * time.Second},
		{Name: "export_conversation", Summary: "conversation file", Local: true, Attempts: 3, Timeout: 5 * time.Second},
	}
	same(t, "activities", s.seen.scheduled[:len(want)], want)
}
