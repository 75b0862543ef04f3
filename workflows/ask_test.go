package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

const askingForX = "This action requires approval:\n\n**ADD Resource**\n\nName: x\nValue: 1\n\n" +
	"Please approve or reject using the approval UUID: UUID"

var waitingForX = []string{
	"system: Be brief.", "user: hello", `call resources_add {"name":"x","value":1}`, "assistant: " + askingForX,
}

func TestADestructiveCallWaitsForADecision(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "ran", w.ran(), nil)
		same(t, "transcript", s.lines(), waitingForX)

		p, v := s.pending(), s.view()
		same(t, "status", v.Status, contract.StatusWaitingApproval)
		same(t, "pending of the view", v.Pending, []contract.PendingApproval{p})
		same(t, "pending", p, contract.PendingApproval{
			UUID: p.UUID, ConversationID: conversationID, ToolName: "resources_add", ToolArgs: add("x").Arguments,
			Digest: add("x").SHA256, Description: "**ADD Resource**\n\nName: x\nValue: 1",
			Reason: contract.ReasonDestructive, CreatedAt: p.CreatedAt, Call: s.messages()[2].ID, AgentName: "tester", Server: "resources",
		})
		if !contract.IsUUID(p.UUID) {
			t.Errorf("uuid %q", p.UUID)
		}
		r := s.request("r1")
		if !r.Settled || !r.Result.WaitingApproval || r.Result.Approval == nil || r.Result.Approval.UUID != p.UUID {
			t.Errorf("the request's answer: %+v", r.Result)
		}
		same(t, "response", r.Result.Response.Inline, strings.ReplaceAll(askingForX, "UUID: UUID", "UUID: "+p.UUID))
		same(t, "file", w.exported().Pending, v.Pending)
		same(t, "status of the file", w.exported().Status, contract.StatusWaitingApproval)
		for _, part := range []string{"Waiting for an approval", contract.ApprovalWorkflowID(p.UUID), "temporal workflow signal", "Name: x"} {
			if d := s.details(contract.ConversationWorkflowID(conversationID)); !strings.Contains(d, part) {
				t.Errorf("details do not say %q:\n%s", part, d)
			}
		}
		s.reject()
		s.rest()
	})
	same(t, "approvals started", len(s.seen.children), 1)
	started := s.seen.children[0]
	same(t, "workflow id", started.ID, contract.ApprovalWorkflowID(started.Input.UUID))
	same(t, "summary", started.Summary, "resources_add on resources waits for an approval")
	same(t, "announced before it started", started.AnnouncedTooEarly, false)
	same(t, "session", started.Input.SessionID, "sid-1")
	same(t, "statuses", s.seen.statuses, []string{"waiting_approval", "active", "completed"})
}

func TestAnApprovalCanBeFoundByItsSearchAttributes(t *testing.T) {
	in := hello()
	s := converse(t, &world{GenerateFn: script(asks(add("x")))}, in, func(s *session) {
		s.rest()
		s.reject()
		s.rest()
	})
	started := s.seen.children[0]
	keyword := func(name string) string {
		v, ok := started.Attributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(name))
		if !ok {
			t.Errorf("%s is not set", name)
		}
		return v
	}
	same(t, "agent", keyword(contract.AttrAgentName), "tester")
	same(t, "conversation", keyword(contract.AttrConversationID), conversationID)
	same(t, "session", keyword(contract.AttrSessionID), "sid-1")
	same(t, "tool", keyword(contract.AttrToolName), "resources_add")
	same(t, "configuration", keyword(contract.AttrConfigHash), in.Agent.Hash())
	since, _ := started.Attributes.GetTime(temporal.NewSearchAttributeKeyTime(contract.AttrPendingSince))
	same(t, "since", since, started.Input.CreatedAt)
}

func TestAnApprovalOpensWithACardForLists(t *testing.T) {
	s := converse(t, &world{GenerateFn: script(asks(add("x")))}, hello(), func(s *session) {
		s.rest()
		s.reject()
		s.rest()
	})
	started := s.seen.children[0]
	same(t, "memo", started.Memo, map[string]any{contract.MemoCallAs: contract.CallAsRequester, contract.MemoCard: contract.Card{
		Server: "resources", Reason: contract.ReasonDestructive, Description: "**ADD Resource**\n\nName: x\nValue: 1",
		Arguments: add("x").Arguments, Digest: add("x").SHA256, Answer: contract.AnswerYesOrNo,
	}})
}

func TestShownCommandsAreForTheServerOfTheWorker(t *testing.T) {
	converse(t, &world{GenerateFn: script(asks(add("x")))}, hello(), func(s *session) {
		s.rest()
		for _, id := range []string{contract.ConversationWorkflowID(conversationID), contract.ApprovalWorkflowID(s.pending().UUID)} {
			if d := s.details(id); !strings.Contains(d, "--address "+serverAddress+" ") || !strings.Contains(d, "--namespace default-test-namespace ") {
				t.Errorf("details of %s:\n%s", id, d)
			}
		}
		s.reject()
		s.rest()
	})
}

func TestAnApprovedCallRunsWithTheArgumentsThatWereShown(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		p := s.pending()
		s.decide(contract.DecideSignal{Approved: true, By: "ops", Reason: "fine", Via: "rest", RequestID: "d1"})
		s.rest()
		same(t, "transcript", s.lines()[4:], []string{
			"user: [APPROVAL]: Approved", "result resources_add: resources_add done", "assistant: Added.",
		})
		made, tail := read(w, &w.calls), s.view().Transcript.Tail
		same(t, "named", made[0].Claim != "", true)
		same(t, "calls", made, []contract.CallToolInput{{
			ConversationID: conversationID, SessionID: "sid-1", Server: "resources", Tool: "resources_add",
			Arguments: p.ToolArgs, SHA256: p.Digest, IdempotencyKey: tail[2].ID, Destructive: true, Agent: "tester", Claim: made[0].Claim,
		}})
		record := *tail[4].Approval
		same(t, "audit record", record, contract.ApprovalResult{
			UUID: p.UUID, ConversationID: conversationID, Tool: "resources_add", ArgumentsSHA256: p.Digest,
			Decision: contract.Approved, By: "ops", Reason: "fine", Via: "rest", RequestID: "d1",
			RequestedAt: p.CreatedAt, DecidedAt: record.DecidedAt,
		})
		s.nothingWaits()
		same(t, "status", s.view().Status, contract.StatusActive)
		same(t, "answer to the decision", s.answer("d1"), "Added.")
		same(t, "answer to the message", s.request("r1").Result.WaitingApproval, true)
		same(t, "file", w.exported().Status, contract.StatusActive)
	})
}

func TestARejectedCallDoesNotRun(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a"), add("x")), says("unheard"))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: false, RequestID: "d1"})
		s.rest()
		same(t, "ran", w.ran(), nil)
		same(t, "answer", s.answer("d1"), "Operation cancelled by user.")
		same(t, "end of the transcript", s.lines()[5:], []string{"user: [APPROVAL]: Rejected", "assistant: Operation cancelled by user."})
		same(t, "model calls", len(read(w, &w.prompts)), 1)
		same(t, "status", s.view().Status, contract.StatusActive)
	})
}

func TestAnExpiredApprovalEndsTheTurn(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")))}
	in := with(hello(), func(a *contract.Agent) { a.ApprovalTimeout = time.Hour })
	converse(t, w, in, func(s *session) {
		s.rest()
		s.pending()
		s.sleep(time.Hour)
		s.nothingWaits()
		same(t, "ran", w.ran(), nil)
		same(t, "end of the transcript", s.lines()[4:], []string{
			"user: [APPROVAL]: Expired", "assistant: The approval expired; nothing was done.",
		})
	})
}

func TestAMalformedDecisionLeavesTheConversationWaiting(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		for _, raw := range []string{`{}`, `garbage`, `[1]`} {
			s.decide(typed(raw))
			s.rest()
		}
		same(t, "transcript", s.lines(), waitingForX)
		same(t, "status", s.view().Status, contract.StatusWaitingApproval)
		s.decide(typed(`{"approved":true}`))
		s.rest()
		same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
	})
}

func TestAnApprovalThatAnOperatorTerminatedRunsNothing(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Go on."))}
	s := newSession(t, w, contract.ConversationWorkflowID(conversationID))
	terminated := func(ctx workflow.Context, _ contract.ApprovalInput) (contract.ApprovalResult, error) {
		_ = workflow.Sleep(ctx, time.Hour)
		return contract.ApprovalResult{}, &temporal.TerminatedError{}
	}
	s.env.RegisterWorkflowWithOptions(terminated, workflow.RegisterOptions{
		Name: contract.WorkflowApproval, DisableAlreadyRegisteredCheck: true,
	})
	s.run(contract.WorkflowConversation, hello(), func(s *session) {
		s.rest()
		s.sleep(time.Hour)
		s.nothingWaits()
		same(t, "ran", w.ran(), nil)
		same(t, "end of the transcript", s.lines()[4:], []string{"user: [APPROVAL]: Cancelled", "assistant: The approval was withdrawn; nothing was done."})
		record := s.view().Transcript.Tail[4].Approval
		same(t, "reason", record.Reason, "terminated")
		if log := s.seen.decisions; len(log) != 1 || !strings.Contains(log[0], "tool=resources_add server=resources decision=cancelled by= via= reason=true") {
			t.Errorf("log: %q", log)
		}
		if record.DecidedAt.IsZero() || record.UUID == "" {
			t.Errorf("audit record: %+v", record)
		}
		s.say("r2", "still there?")
		s.rest()
		same(t, "answer", s.answer("r2"), "Go on.")
	}, func() { s.close("", "") })
}

func TestNothingRunsUntilEveryCallOfTheReplyIsDecided(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x"), add("y")), says("Both."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		first := s.pending()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		second := s.pending()
		same(t, "ran after the first decision", w.ran(), nil)
		same(t, "second question", string(second.ToolArgs.Raw), `{"name":"y","value":1}`)
		r := s.request("d1")
		if first.UUID == second.UUID || r.Result == nil || !r.Result.WaitingApproval || r.Result.Approval.UUID != second.UUID {
			t.Errorf("answer to the first decision: %+v", r.Result)
		}
		same(t, "file", w.exported().Pending, []contract.PendingApproval{second})
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`, `resources_add{"name":"y","value":1}`})
		same(t, "answer to the second decision", s.answer("d2"), "Both.")
	})
}

func TestRejectingTheSecondCallRunsNeither(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x"), add("y")))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d2"})
		s.rest()
		same(t, "ran", w.ran(), nil)
		same(t, "answer", s.answer("d2"), "Operation cancelled by user.")
		lines := s.lines()
		same(t, "end of the transcript", lines[len(lines)-3:], []string{
			"user: [APPROVAL]: Rejected",
			"assistant: Approved but not run, because another call of the same reply was rejected: resources_add.",
			"assistant: Operation cancelled by user.",
		})
	})
}

func TestADecisionThatComesTooLateChangesNothing(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		uuid := s.pending().UUID
		s.decideOn(uuid, contract.DecideSignal{Approved: true, RequestID: "winner"})
		s.decideOn(uuid, contract.DecideSignal{Approved: false, RequestID: "loser"})
		s.rest()
		same(t, "ran", len(w.ran()), 1)
		same(t, "winner", s.answer("winner"), "Added.")
		same(t, "loser", s.request("loser"), contract.Request{})
		if err := s.env.SignalWorkflowByID(contract.ApprovalWorkflowID(uuid), contract.SignalDecide, contract.DecideSignal{}); err == nil {
			t.Error("a decided approval takes another decision")
		}
		same(t, "transcript", len(s.lines()), 7)
	})
}

func TestADecisionIsAnsweredAtTheNextPause(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), asks(add("y")), says("Both."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		caller := s.await("d1")
		s.rest()
		same(t, "released", caller.ids(), []string{"d1"})
		same(t, "waits again", caller.result.Settled[0].Result.WaitingApproval, true)
		same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
		s.approve()
		s.rest()
	})
}

func TestADestructiveCallThatFailsIsTriedOnce(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("It failed."))}
	w.CallToolFn = func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
		return contract.CallToolResult{}, fails(contract.KindBlob, "disk full") // a kind that is retried for other calls
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		same(t, "ran", len(w.ran()), 1)
		same(t, "result", s.lines()[5], "failed resources_add: Tool execution failed: disk full")
		same(t, "answer", s.answer("d1"), "It failed.")
	})
}

// refuseFirstCalls makes the tool server unreachable for the first calls.
func refuseFirstCalls(w *world, calls int) {
	w.CallToolFn = func(_ context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
		if len(w.ran()) <= calls {
			return contract.CallToolResult{}, fails(contract.KindToolUnavailable, "connection refused")
		}
		return returns(in.Tool + " done"), nil
	}
}

func TestAnApprovedCallWaitsForItsServerToComeBack(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	refuseFirstCalls(w, 4)
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.sleep(time.Minute)
		same(t, "answer", s.answer("d1"), "Added.")
		made := read(w, &w.calls)
		same(t, "tries", len(made), 5)
		same(t, "one key", made[4].IdempotencyKey, made[0].IdempotencyKey)
	})
}

func TestAnApprovedCallWhoseServerStaysAwayGoesToAHumanAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		approve bool
		answer  string
		result  string
		tries   int
	}{
		"who has it tried again": {true, "Added.", "result resources_add: resources_add done", 6},
		"who goes on without it": {false, "Added.", "failed resources_add: Tool execution failed: connection refused. Reason: closed", 5},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
			refuseFirstCalls(w, 5)
			converse(t, w, hello(), func(s *session) {
				s.rest()
				s.approve()
				s.sleep(time.Minute)
				p := s.pending()
				same(t, "reason", p.Reason, contract.ReasonNotReached)
				same(t, "asks", strings.HasPrefix(p.Description, "**NOT REACHED: resources_add**"), true)
				s.decide(contract.DecideSignal{Approved: tt.approve, RequestID: "d2", Reason: "closed"})
				s.sleep(time.Minute)
				same(t, "answer", s.answer("d2"), tt.answer)
				all := s.lines()
				same(t, "result", all[len(all)-2], tt.result)
				same(t, "tries", len(w.ran()), tt.tries)
			})
		})
	}
}

func TestCancelEndsTheWaitForAServer(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")))}
	refuseFirstCalls(w, 100)
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.cancel("c1", "enough")
		s.rest()
		same(t, "answer", s.answer("c1"), "The turn was cancelled. enough")
		s.nothingWaits()
		s.say("r2", "hello?")
		s.rest()
		s.request("r2")
	})
}

func TestTheReplyToARejectionSaysWhyAndWho(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1", By: "alice", Reason: "not today"})
		s.rest()
		same(t, "end of the transcript", s.lines()[5:], []string{"assistant: Operation cancelled by user. Reason (alice): not today"})
	})
}
