package workflows_test

import (
	"context"
	"testing"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

func TestCancelStopsAModelCall(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.cancel("c1", "changed my mind")
		s.rest()
		same(t, "message", s.answer("r1"), "The turn was cancelled. changed my mind")
		same(t, "cancel", s.answer("c1"), "The turn was cancelled. changed my mind")
		same(t, "transcript", s.lines()[1:], []string{"user: hello", "assistant: The turn was cancelled. changed my mind"})
		same(t, "status", s.view().Status, contract.StatusActive)
		w.GenerateFn = echo
		s.say("r2", "two")
		s.rest()
		same(t, "next message", s.answer("r2"), "echo two")
	})
}

func TestCancelStopsALocalModelCall(t *testing.T) {
	started, w := make(chan struct{}), &world{}
	w.GenerateFn = func(ctx context.Context, _ contract.GenerateInput) (contract.GenerateResult, error) {
		close(started)
		<-ctx.Done()
		return contract.GenerateResult{}, ctx.Err()
	}
	in := with(hello(), func(a *contract.Agent) { a.Execution = contract.ExecutionLean })
	var s *session
	go func() {
		<-started
		s.cancel("c1", "")
	}()
	s = newSession(t, w, contract.ConversationWorkflowID(in.ID))
	s.run(contract.WorkflowConversation, in, func(s *session) {
		s.rest()
		same(t, "message", s.answer("r1"), "The turn was cancelled.")
		same(t, "cancel", s.answer("c1"), "The turn was cancelled.")
	}, func() { s.close("", "") })
}

func TestACancelThatArrivesWithItsMessageFindsTheTurn(t *testing.T) {
	w := &world{GenerateFn: echo}
	converse(t, w, silent(), func(s *session) {
		s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalCancel, contract.CancelSignal{RequestID: "c1"})
		s.say("r1", "hello")
		s.rest()
		same(t, "answer", s.answer("r1"), "The turn was cancelled.")
		same(t, "cancel", s.answer("c1"), "The turn was cancelled.")
		same(t, "model calls", len(read(w, &w.prompts)), 0)
	})
}

func TestCancelStopsReadOnlyCalls(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a"), list("b")), says("unheard")), CallToolFn: holdTools}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.cancel("c1", "")
		s.rest()
		same(t, "end of the transcript", s.lines()[4:], []string{
			"failed resources_list: Tool execution failed: the turn was cancelled",
			"failed resources_list: Tool execution failed: the turn was cancelled",
			"assistant: The turn was cancelled.",
		})
		same(t, "model calls", len(read(w, &w.prompts)), 1)
	})
}

func TestADestructiveCallUnderWayIsSeenThrough(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x"), add("y")), says("unheard")), CallToolFn: holdTools}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.approve()
		s.rest()
		s.cancel("c1", "")
		s.rest()
		s.unsettled("c1")
		s.release(`resources_add{"name":"x","value":1}`, returns("added x"), nil)
		s.rest()
		same(t, "cancel", s.answer("c1"), "The turn was cancelled.")
		same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
		end := s.lines()
		same(t, "end of the transcript", end[len(end)-2:], []string{"result resources_add: added x", "assistant: The turn was cancelled."})
	})
}

func TestADestructiveCallThatIsLostAfterACancelAsksNobody(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("unheard")), CallToolFn: holdTools}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.cancel("c1", "")
		s.rest()
		s.release(`resources_add{"name":"x","value":1}`, nil, fails(contract.KindOutcomeUnknown, "connection lost"))
		s.rest()
		s.nothingWaits()
		same(t, "result", s.lines()[5], "failed resources_add: Outcome unknown: the call was sent and its answer was lost "+
			"(connection lost). It was not repeated.")
		same(t, "cancel", s.answer("c1"), "The turn was cancelled.")
	})
}

func TestCancelWithdrawsAnOpenApproval(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x"), add("y")))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		uuid := s.pending().UUID
		s.cancel("c1", "")
		s.rest()
		s.nothingWaits()
		same(t, "approval", s.approval(uuid).Result.Decision, contract.Cancelled)
		same(t, "cancel", s.answer("c1"), "The turn was cancelled.")
		same(t, "end of the transcript", s.lines()[5:], []string{"user: [APPROVAL]: Cancelled", "assistant: The turn was cancelled."})
		same(t, "status", s.view().Status, contract.StatusActive)
		same(t, "ran", w.ran(), nil)
	})
}

func TestACancelDuringTheAnnouncementIsAnsweredWithItsOwnOutcome(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")))}
	s := newSession(t, w, contract.ConversationWorkflowID(conversationID))
	w.ExportFn = func(ctx context.Context, in contract.ExportInput) (contract.ExportResult, error) {
		if len(in.Conversation.Pending) > 0 {
			s.cancel("c1", "")
			<-s.processed() // the cancellation has been received by then
		}
		return contract.ExportResult{}, ctx.Err()
	}
	s.run(contract.WorkflowConversation, hello(), func(s *session) {
		s.rest()
		same(t, "message", s.request("r1").Result.WaitingApproval, true)
		same(t, "cancel", s.answer("c1"), "The turn was cancelled.")
		same(t, "the announcement was written", read(w, &w.written)[0].Status, contract.StatusWaitingApproval)
		s.nothingWaits()
	}, func() { s.close("", "") })
}

func TestACancelBeforeTheApprovalStartsIsNotAnsweredWithTheApproval(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")))}
	s := newSession(t, w, contract.ConversationWorkflowID(conversationID))
	s.env.SetOnChildWorkflowStartedListener(func(*workflow.Info, workflow.Context, converter.EncodedValues) {
		s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalCancel, contract.CancelSignal{RequestID: "c1"})
	})
	s.run(contract.WorkflowConversation, hello(), func(s *session) {
		s.rest()
		s.nothingWaits()
		same(t, "message", s.answer("r1"), "The turn was cancelled.")
		same(t, "cancel", s.answer("c1"), "The turn was cancelled.")
		same(t, "status", s.view().Status, contract.StatusActive)
	}, func() { s.close("", "") })
}

func TestCancelWithNothingRunningSaysSo(t *testing.T) {
	converse(t, &world{}, silent(), func(s *session) {
		s.cancel("c1", "")
		s.rest()
		same(t, "answer", s.answer("c1"), "Nothing is running.")
		same(t, "transcript", s.lines(), []string{"system: Be brief."})
	})
}

func TestQueuedMessagesAreAnsweredAfterACancel(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	converse(t, w, hello(), func(s *session) {
		s.say("r2", "two")
		s.rest()
		w.GenerateFn = echo
		s.cancel("c1", "")
		s.rest()
		same(t, "first", s.answer("r1"), "The turn was cancelled.")
		same(t, "second", s.answer("r2"), "echo two")
	})
}

func TestCloseEndsAnIdleConversation(t *testing.T) {
	w := &world{}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		s.close("x1", "done")
		caller := s.await("x1")
		s.rest()
		same(t, "released", caller.ids(), []string{"x1"})
		same(t, "answer", s.answer("x1"), "Conversation closed.")
		same(t, "status", s.view().Status, contract.StatusCompleted)
	})
	same(t, "result", s.result(), contract.ConversationResult{
		ID: conversationID, Status: contract.StatusCompleted, Messages: 3, Turns: 1, Reason: "done",
		Usage: contract.Usage{InputTokens: 10, OutputTokens: 2}, Outcome: contract.OutcomeDone,
	})
	same(t, "file", w.exported().Status, contract.StatusCompleted)
	same(t, "statuses", s.seen.statuses, []string{"completed"})
}

func TestCloseStopsTheRunningTurnAndRefusesTheQueue(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	var queued, closed *awaitCaller
	s := converse(t, w, hello(), func(s *session) {
		s.say("r2", "two")
		s.rest()
		queued, closed = s.await("r2"), s.await("x1")
		s.close("x1", "enough")
		s.rest()
		same(t, "running", s.answer("r1"), "The turn was cancelled. enough")
		same(t, "queued", s.request("r2").Refused, contract.KindCompleted)
		same(t, "transcript", s.lines()[1:], []string{"user: hello", "assistant: The turn was cancelled. enough"})
	})
	same(t, "status", s.result().Status, contract.StatusCompleted)
	same(t, "queued caller", queued.ids(), []string{"r2"})
	same(t, "closing caller", closed.ids(), []string{"x1"})
	same(t, "refused", queued.result.Settled[0].Refused, contract.KindCompleted)
	same(t, "queued, in the file", w.exported().Queued, 0)
}

func TestARefusalOfTheQueueIsReleasedOnlyAfterTheExport(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	converse(t, w, hello(), func(s *session) {
		s.say("r2", "two")
		s.rest()
		s.awaitThen(func() { w.mark("refused") }, "r2")
		w.ExportFn = func(_ context.Context, in contract.ExportInput) (contract.ExportResult, error) {
			w.mark("export " + string(in.Conversation.Status))
			return contract.ExportResult{}, nil
		}
		s.close("x1", "")
		s.rest()
	})
	same(t, "order", read(w, &w.marks), []string{"export active", "export completed", "refused"})
}

func TestCloseWithdrawsAnOpenApproval(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")))}
	var uuid string
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		uuid = s.pending().UUID
		s.close("x1", "")
		s.rest()
		same(t, "approval", s.approval(uuid).Result.Decision, contract.Cancelled)
	})
	same(t, "status", s.result().Status, contract.StatusCompleted)
	same(t, "ran", w.ran(), nil)
	same(t, "file", len(w.exported().Pending), 0)
	same(t, "statuses", s.seen.statuses, []string{"waiting_approval", "active", "completed"})
}

func TestTwoClosesAreBothAnswered(t *testing.T) {
	converse(t, &world{GenerateFn: holdModel}, hello(), func(s *session) {
		s.rest()
		s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalClose, contract.CloseSignal{RequestID: "x1", Reason: "first"})
		s.close("x2", "second")
		s.rest()
		same(t, "first", s.answer("x1"), "Conversation closed.")
		same(t, "second", s.answer("x2"), "Conversation closed.")
	})
}

func TestSignalsThatArriveWhileAConversationClosesAreAnswered(t *testing.T) {
	w := &world{}
	s := converse(t, w, silent(), func(s *session) {
		s.rest()
		w.ExportFn = func(context.Context, contract.ExportInput) (contract.ExportResult, error) {
			s.say("r1", "wait!")
			s.cancel("c1", "")
			s.close("x2", "")
			return contract.ExportResult{}, nil
		}
		s.close("x1", "")
		s.rest()
		same(t, "message", s.request("r1").Refused, contract.KindCompleted)
		same(t, "cancel", s.answer("c1"), "Nothing is running.")
		same(t, "second close", s.answer("x2"), "Conversation closed.")
	})
	same(t, "status", s.result().Status, contract.StatusCompleted)
}

func TestACancelledWorkflowClosesInOrder(t *testing.T) {
	tests := map[string]struct {
		model func(context.Context, contract.GenerateInput) (contract.GenerateResult, error)
		end   string
	}{
		"idle":    {echo, "assistant: echo hello"},
		"running": {holdModel, "assistant: The turn was cancelled. the workflow was cancelled"},
		"waiting": {script(asks(add("x"))), "assistant: The turn was cancelled. the workflow was cancelled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: tt.model}
			s := converse(t, w, hello(), func(s *session) {
				s.rest()
				s.env.CancelWorkflow()
				s.rest()
				if !s.over {
					t.Error("the workflow did not end")
				}
				end := s.lines()
				same(t, "end of the transcript", end[len(end)-1], tt.end)
				same(t, "message", s.request("r1").Settled, true)
			})
			if !temporal.IsCanceledError(s.env.GetWorkflowError()) {
				t.Errorf("the workflow ended with %v", s.env.GetWorkflowError())
			}
			same(t, "file", w.exported().Status, contract.StatusCompleted)
		})
	}
}

func TestAWorkflowCancelledWhileItsFileIsWrittenStillCloses(t *testing.T) {
	w := &world{}
	s := newSession(t, w, contract.ConversationWorkflowID(conversationID))
	w.ExportFn = func(_ context.Context, in contract.ExportInput) (contract.ExportResult, error) {
		if in.Conversation.Version == 1 {
			s.env.CancelWorkflow()
		}
		return contract.ExportResult{}, nil
	}
	s.env.SetCurrentHistoryLength(50_000) // without the cancellation it would continue as new
	s.run(contract.WorkflowConversation, silent(), func(*session) {}, func() {})
	if !temporal.IsCanceledError(s.env.GetWorkflowError()) {
		t.Errorf("the workflow ended with %v", s.env.GetWorkflowError())
	}
}
