package workflows_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
)

// writer is another agent that works until it is told otherwise: begun is what it
// says to the message, and now what it says to who looks.
type writer struct {
	begun, now contract.DelegateResult
	answered   contract.DelegateResult // to an approval
	deaf       error                   // what becomes of refusals and cancellations
	broken     error                   // what becomes of looks
}

func (w *writer) delegate(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
	switch {
	case in.Cancel, in.Decision == contract.Rejected:
		return remote(contract.TaskCanceled, "stopped"), w.deaf
	case in.Decision == contract.Approved:
		w.now = w.answered
		return w.answered, nil
	case in.TaskID != "":
		return w.now, w.broken
	}
	return w.begun, nil
}

func atWork() contract.DelegateResult { return remote(contract.TaskWorking, "") }

// asksFor is a task that waits for an approval with an ID.
func asksFor(uuid, text string) contract.DelegateResult {
	r := remote(contract.TaskInputRequired, text)
	r.Asked = &contract.Origin{
		Chain: []string{"writer", "archive"}, UUID: uuid, Tool: "files_delete", Digest: "d1", Reason: contract.ReasonDestructive,
		Arguments: contract.JSON{Raw: json.RawMessage(`{"path":"/a"}`)},
	}
	return r
}

// down is an agent that is not reached.
func down() error { return fails(contract.KindPeerUnavailable, "connection refused") }

// note is what the result of the only delegation tells people.
func (s *session) note() (note string) {
	for _, m := range s.messages() {
		if m.Role == contract.RoleTool {
			note = m.ToolCall.Note
		}
	}
	return note
}

func TestATaskThatWorksIsLookedAtUntilItIsDone(t *testing.T) {
	peer := &writer{begun: atWork(), now: atWork()}
	w := &world{DelegateFn: peer.delegate}
	s := converse(t, w, tree(ask("write")), func(s *session) {
		s.rest()
		s.unsettled("r1")
		same(t, "running", s.view().Running, true)
		s.sleep(20 * time.Minute)
		s.unsettled("r1")
		peer.now = remote(contract.TaskCompleted, "written")
		s.sleep(2 * time.Minute)
		same(t, "answer", s.answer("r1"), "written")
	})
	same(t, "sent", sentTo(w), []string{`{"message":"write"}`})
	if n := looks(w); n < 60 || n > 120 {
		t.Errorf("%d looks in 22 minutes", n)
	}
	look := read(w, &w.sent)[1]
	same(t, "look", look.TaskID+look.MessageID, "task-1")
	same(t, "look's time", s.seen.options(contract.ActivityDelegate.Name).Timeout, 90*time.Second)
	same(t, "summary", s.seen.options(contract.ActivityDelegate.Name).Summary, "look at the task of writer")
}

func TestAFailedLookIsNoEndOfTheTask(t *testing.T) {
	peer := &writer{begun: atWork(), broken: down()}
	w := &world{DelegateFn: peer.delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		s.sleep(10 * time.Minute)
		s.unsettled("r1")
		peer.broken, peer.now = nil, remote(contract.TaskCompleted, "written")
		s.sleep(5 * time.Minute)
		same(t, "answer", s.answer("r1"), "written")
	})
}

func TestATaskThatTheOtherAgentDeniesIsAnError(t *testing.T) {
	peer := &writer{begun: atWork(), broken: fails(contract.KindPeerFailed, "no such task"), deaf: fails(contract.KindPeerFailed, "no such task")}
	w := &world{DelegateFn: peer.delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "A2A error: no such task")
		same(t, "note", s.note(), "The agent writer could not be told: A2A error: no such task")
	})
	same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "cancel task-1"})
}

func TestATaskThatWorksTooLongIsCancelled(t *testing.T) {
	for name, tt := range map[string]struct {
		timeout, before, after time.Duration
		text                   string
	}{
		"by default":   {0, 59 * time.Minute, 2 * time.Minute, "1h"},
		"as it is set": {90 * time.Second, time.Minute, time.Minute, "1m30s"},
	} {
		t.Run(name, func(t *testing.T) {
			n := ask("write")
			n.Peer.Timeout = tt.timeout
			w := &world{DelegateFn: (&writer{begun: atWork(), now: atWork()}).delegate}
			converse(t, w, tree(n), func(s *session) {
				s.sleep(tt.before)
				s.unsettled("r1")
				s.sleep(tt.after)
				same(t, "answer", s.answer("r1"), "A2A error: agent writer had not finished after "+tt.text+"; the task was cancelled.")
				same(t, "outcome", s.view().Last.Outcome, contract.OutcomeFailed)
			})
			same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "cancel task-1"})
		})
	}
}

func TestTimeInWhichATaskWaitsIsNotItsWork(t *testing.T) {
	peer := &writer{begun: asksFor("u1", "Sure?"), now: asksFor("u1", "Sure?"), answered: atWork()}
	w := &world{DelegateFn: peer.delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		s.sleep(100 * time.Hour)
		s.approve()
		s.sleep(50 * time.Minute)
		peer.now = remote(contract.TaskCompleted, "written")
		s.sleep(5 * time.Minute)
		same(t, "answer", lines(s.messages())[len(s.messages())-1], "assistant: written")
	})
}

func TestACancelledTurnCancelsTheTaskThatWorks(t *testing.T) {
	for name, root := range map[string]contract.Node{"alone": ask("write"), "in a tree": parallel("both", asking(ask("write")), llm("other"))} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: play(nil), DelegateFn: (&writer{begun: atWork(), now: atWork()}).delegate}
			converse(t, w, tree(root), func(s *session) {
				s.sleep(5 * time.Minute)
				s.cancel("c1", "")
				s.rest()
				same(t, "answer", s.answer("c1"), "The turn was cancelled.")
				same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "cancel task-1"})
				seen := looks(w)
				s.sleep(time.Hour)
				same(t, "looks after that", looks(w), seen)
				s.usable()
			})
		})
	}
}

func TestANodeWhoseTimeIsUpCancelsItsTask(t *testing.T) {
	w := &world{GenerateFn: play(nil), DelegateFn: (&writer{begun: atWork(), now: atWork()}).delegate}
	converse(t, w, tree(asking(within(ask("write"), limit(time.Minute)))), func(s *session) {
		s.sleep(2 * time.Minute)
		same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "cancel task-1"})
		same(t, "result", lines(s.messages())[3], "failed a2a_writer: A2A error: the time was up")
		same(t, "states", s.states(), "pipeline:done[find:done ask:failed tell:done]")
	})
}

// Only when the message has arrived is there a task that can be cancelled.
func TestASendUnderWayIsSeenThroughAndThenItsTaskIsCancelled(t *testing.T) {
	for name, tt := range map[string]struct {
		result any
		err    error
		sent   []string
	}{
		"it works":     {atWork(), nil, []string{`{"message":"write"}`, "cancel task-1"}},
		"it waits":     {asksFor("u1", "Sure?"), nil, []string{`{"message":"write"}`, "cancel task-1"}},
		"it is done":   {remote(contract.TaskCompleted, "written"), nil, []string{`{"message":"write"}`}},
		"nobody knows": {nil, fails(contract.KindPeerFailed, "refused"), []string{`{"message":"write"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: play(nil), DelegateFn: func(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
				if in.Cancel {
					return remote(contract.TaskCanceled, "stopped"), nil
				}
				return contract.DelegateResult{}, held
			}}
			converse(t, w, tree(asking(ask("write"))), func(s *session) {
				s.rest()
				s.cancel("c1", "")
				s.rest()
				s.unsettled("c1")
				s.release("delegate", tt.result, tt.err)
				s.rest()
				same(t, "answer", s.answer("c1"), "The turn was cancelled.")
				same(t, "sent", sentTo(w), tt.sent)
				same(t, "looks", looks(w), 0)
				s.usable()
			})
		})
	}
}

func TestTheOtherAgentHearsOfARejectionHoweverLongItIsAway(t *testing.T) {
	peer := &writer{begun: asksFor("u1", "Sure?"), now: asksFor("u1", "Sure?"), deaf: down()}
	w := &world{GenerateFn: play(nil), DelegateFn: peer.delegate}
	in := tree(asking(ask("clean up")))
	in.First.Credential = askersToken
	s := converse(t, w, in, func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1", Reason: "not today"})
		s.rest()
		same(t, "answer", s.answer("d1"), "Operation cancelled by user.\n\nDone: find.\n\nNot done: ask (rejected), tell (skipped).")
		same(t, "note", s.note(), "The agent writer could not be told yet; it is tried again until it hears of it (workflow "+s.seen.delivered[0].ID+").")
		s.sleep(48 * time.Hour)
		peer.deaf = nil
		s.sleep(time.Hour)
	})
	same(t, "deliveries", len(s.seen.delivered), 1)
	d := s.seen.delivered[0]
	same(t, "workflow", d.ID, "delivery-"+d.Input.MessageID)
	same(t, "outlives the turn", d.Abandoned, true)
	same(t, "tells", d.Input.Decision, contract.Rejected)
	same(t, "why", d.Input.Reason, "not today")
	same(t, "asked", d.Input.Asked.UUID, "u1")
	same(t, "task", d.Input.TaskID, "task-1")
	sent := slices.DeleteFunc(heard(w), func(in contract.DelegateInput) bool { return in.Decision == "" })
	if n := len(sent); n < 250 || n > 350 {
		t.Errorf("told %d times in two days", n)
	}
	same(t, "the same message", sent[len(sent)-1], sent[1])
	for _, l := range read(w, &w.log) {
		if strings.HasPrefix(l, "regular delegate") {
			same(t, "the token", l, "regular delegate "+askersToken)
		}
	}
}

func TestTheOtherAgentHearsOfACancellationHoweverLongItIsAway(t *testing.T) {
	peer := &writer{begun: atWork(), now: atWork(), deaf: down()}
	w := &world{GenerateFn: play(nil), DelegateFn: peer.delegate}
	s := converse(t, w, tree(ask("write")), func(s *session) {
		s.rest()
		s.cancel("c1", "")
		s.rest()
		same(t, "answer", s.answer("c1"), "The turn was cancelled.")
		same(t, "note", s.note(), "The agent writer could not be told yet; it is tried again until it hears of it (workflow "+s.seen.delivered[0].ID+").")
		peer.deaf = nil
	})
	same(t, "tells", s.seen.delivered[0].Input.Cancel, true)
	same(t, "summary", s.seen.delivered[0].Summary, "tell writer: cancel the task")
}

func delivered(t *testing.T, in contract.DelegateInput, answer func(context.Context, contract.DelegateInput) (contract.DelegateResult, error)) (contract.DeliveryResult, error) {
	t.Helper()
	s := newSession(t, &world{DelegateFn: answer}, contract.DeliveryWorkflowID(in.MessageID))
	s.env.ExecuteWorkflow(contract.WorkflowDelivery, in)
	var r contract.DeliveryResult
	if err := s.env.GetWorkflowError(); err != nil {
		return r, err
	}
	return r, s.env.GetWorkflowResult(&r)
}

func TestADeliveryEndsWhenTheAgentHasHeard(t *testing.T) {
	away := 200
	in := contract.DelegateInput{MessageID: "m1", TaskID: "task-1", Cancel: true, Peer: contract.Peer{Name: "writer"}}
	for name, tt := range map[string]struct {
		answer func() (contract.DelegateResult, error)
		want   contract.DeliveryResult
	}{
		"after a day": {func() (contract.DelegateResult, error) {
			if away--; away > 0 {
				return contract.DelegateResult{}, down()
			}
			return remote(contract.TaskCanceled, "stopped"), nil
		}, contract.DeliveryResult{State: contract.TaskCanceled}},
		"by a refusal": {func() (contract.DelegateResult, error) {
			return contract.DelegateResult{}, fails(contract.KindPeerFailed, "no such task")
		}, contract.DeliveryResult{Problem: "The agent writer could not be told: A2A error: no such task"}},
		"after 30 days": {func() (contract.DelegateResult, error) { return contract.DelegateResult{}, down() },
			contract.DeliveryResult{Problem: "The agent writer could not be told within 30 days: A2A error: connection refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := delivered(t, in, func(context.Context, contract.DelegateInput) (contract.DelegateResult, error) { return tt.answer() })
			if err != nil {
				t.Fatal(err)
			}
			same(t, "result", got, tt.want)
		})
	}
}

func TestADeliveryMayBeCancelled(t *testing.T) {
	s := newSession(t, &world{DelegateFn: func(context.Context, contract.DelegateInput) (contract.DelegateResult, error) {
		return contract.DelegateResult{}, down()
	}}, "delivery-m1")
	s.run(contract.WorkflowDelivery, contract.DelegateInput{MessageID: "m1", TaskID: "task-1", Cancel: true}, func(s *session) { s.sleep(time.Hour) }, s.env.CancelWorkflow)
	if err := s.env.GetWorkflowError(); !temporal.IsCanceledError(err) {
		t.Errorf("it ended with %v", err)
	}
}

func TestTheChainOfAgentsGoesAlong(t *testing.T) {
	for name, root := range map[string]contract.Node{"alone": ask("write"), "in a tree": sequential("pipeline", parallel("both", ask("write"), llm("other")))} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: play(nil)}
			in := tree(root)
			in.Chain = []string{"first", "second"}
			converse(t, w, in, func(s *session) {
				s.rest()
				same(t, "chain", read(w, &w.sent)[0].Chain, []string{"first", "second", "tester"})
				same(t, "shown", s.view().Chain, []string{"first", "second"})
			})
		})
	}
}

func TestFilesOfTheOtherAgentAreInTheResult(t *testing.T) {
	done := remote(contract.TaskCompleted, "drawn")
	done.Media = []contract.Media{{Blob: contract.NewBlob([]byte("png")), MIMEType: "image/png", Name: "a.png"}}
	w := &world{GenerateFn: play(nil), DelegateFn: answers(done)}
	converse(t, w, tree(asking(ask("draw"))), func(s *session) {
		s.rest()
		same(t, "media", s.messages()[3].ToolCall.Media, done.Media)
	})
}

func TestTheLooksOfAMonthAreFew(t *testing.T) {
	w := &world{DelegateFn: (&writer{begun: asksFor("u1", "Sure?"), now: asksFor("u1", "Sure?")}).delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		for range 30 {
			s.sleep(24 * time.Hour)
		}
	})
	if n := looks(w); n < 1000 || n > 2000 {
		t.Errorf("%d looks", n)
	}
}

func TestALongHistoryIsLookedIntoRarely(t *testing.T) {
	w := &world{DelegateFn: (&writer{begun: asksFor("u1", "Sure?"), now: asksFor("u1", "Sure?")}).delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		s.rest()
		s.env.SetCurrentHistoryLength(20_000)
		s.sleep(time.Hour)
		before := looks(w)
		s.sleep(10 * 24 * time.Hour)
		if n := looks(w) - before; n < 9 || n > 11 {
			t.Errorf("%d looks in ten days", n)
		}
	})
}

func askedWith(origin func(*contract.Origin)) contract.DelegateResult {
	r := asksFor("u1", "Which one?")
	origin(r.Asked)
	return r
}

func TestWhatAnotherAgentAsksIsShownWithTheCallBehindIt(t *testing.T) {
	w := &world{DelegateFn: (&writer{begun: asksFor("u1", "Delete it?"), now: asksFor("u1", "Delete it?"), answered: remote(contract.TaskCompleted, "deleted")}).delegate}
	s := converse(t, w, tree(ask("clean up")), func(s *session) {
		s.rest()
		p := s.pending()
		same(t, "description", p.Description, "**PROXY APPROVAL — A2A Agent: writer**\n\nDelete it?\n\n"+
			"Through: tester → writer → archive\nTool: files_delete\nArgs: {\n  \"path\": \"/a\"\n}")
		same(t, "origin", *p.Origin, *asksFor("u1", "").Asked)
		shown := s.details(contract.ApprovalWorkflowID(p.UUID))
		for _, want := range []string{"Came through: tester → writer → archive.", "tool `files_delete`", "SHA-256 `d1`", `"path": "/a"`} {
			if !strings.Contains(shown, want) {
				t.Errorf("%q is not in\n%s", want, shown)
			}
		}
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1", Reason: "go ahead"})
		s.rest()
		same(t, "answer", s.answer("d1"), "deleted")
	})
	sent := heard(w)[1]
	same(t, "asked", *sent.Asked, *asksFor("u1", "").Asked)
	same(t, "reason", sent.Reason, "go ahead")
	same(t, "approvals", len(s.seen.children), 1)
}

func TestAQuestionOfAnotherAgentIsAnswered(t *testing.T) {
	schema := contract.JSON{Raw: json.RawMessage(`{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`)}
	for name, tt := range map[string]struct {
		reason contract.Reason
		answer func(s *session)
	}{
		"by the approval": {contract.ReasonClientTool, func(s *session) {
			s.decide(typed(`{"approved":true}`))
			s.rest()
			same(s.t, "not yet", s.approval(s.pending().UUID).Problem != "", true)
			s.decide(typed(`{"content":{"color":"red"},"request_id":"d1"}`))
		}},
		"with a message": {contract.ReasonQuestion, func(s *session) { s.say("d1", "red") }},
	} {
		t.Run(name, func(t *testing.T) {
			begun := askedWith(func(o *contract.Origin) { o.Schema, o.Reason = schema, tt.reason })
			w := &world{DelegateFn: (&writer{begun: begun, now: begun, answered: remote(contract.TaskCompleted, "painted")}).delegate}
			converse(t, w, tree(ask("paint")), func(s *session) {
				s.rest()
				same(t, "schema", string(s.pending().Schema.Raw), string(schema.Raw))
				tt.answer(s)
				s.rest()
				same(t, "answer", s.answer("d1"), "painted")
				for _, m := range s.messages() {
					if m.Approval != nil {
						same(t, "mark", m.Content.Inline, "[ANSWER]: Accepted")
						same(t, "content", string(m.Approval.Content.Raw), "")
					}
				}
			})
			same(t, "content", string(heard(w)[1].Content.Raw), `{"color":"red"}`)
		})
	}
}

func TestAnApprovalThatWasDecidedElsewhereIsWithdrawn(t *testing.T) {
	for name, tt := range map[string]struct {
		now, after contract.DelegateResult
		answer     string
		reason     string
	}{
		"completed": {remote(contract.TaskCompleted, "deleted"), contract.DelegateResult{}, "deleted", "decided elsewhere: the task of agent writer is now completed"},
		"at work":   {atWork(), remote(contract.TaskCompleted, "deleted"), "deleted", "decided elsewhere: the task of agent writer is now working"},
		"rejected":  {remote(contract.TaskRejected, "kept"), contract.DelegateResult{}, "kept", "decided elsewhere: the task of agent writer is now rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			peer := &writer{begun: asksFor("u1", "Sure?"), now: asksFor("u1", "Sure?")}
			w := &world{DelegateFn: peer.delegate}
			converse(t, w, tree(ask("clean up")), func(s *session) {
				s.rest()
				uuid := s.pending().UUID
				peer.now = tt.now
				s.sleep(time.Minute)
				if tt.after.State != "" {
					s.unsettledAnswer()
					peer.now = tt.after
					s.sleep(time.Minute)
				}
				s.nothingWaits()
				all := s.messages()
				same(t, "answer", all[len(all)-1].Content.Inline, tt.answer)
				same(t, "approval", s.approval(uuid).Result.Decision, contract.Cancelled)
				var record contract.ApprovalResult
				for _, m := range all {
					if m.Approval != nil {
						record = *m.Approval
					}
				}
				same(t, "decision", record.Decision, contract.Cancelled)
				same(t, "reason", record.Reason, tt.reason)
				s.usable()
			})
			same(t, "sent", sentTo(w)[:1], []string{`{"message":"clean up"}`})
		})
	}
}

// unsettledAnswer checks that the turn goes on.
func (s *session) unsettledAnswer() {
	s.t.Helper()
	s.nothingWaits()
	same(s.t, "at work", s.view().Running, true)
}

func TestAnotherQuestionTakesThePlaceOfTheFirst(t *testing.T) {
	peer := &writer{begun: asksFor("u1", "Delete a?"), now: asksFor("u1", "Delete a?"), answered: remote(contract.TaskCompleted, "deleted")}
	w := &world{DelegateFn: peer.delegate}
	converse(t, w, tree(ask("clean up")), func(s *session) {
		s.rest()
		first := s.pending()
		peer.now = asksFor("u2", "Delete b?")
		s.sleep(time.Minute)
		second := s.pending()
		same(t, "another approval", first.UUID != second.UUID && second.Origin.UUID == "u2", true)
		same(t, "the first", s.approval(first.UUID).Result.Decision, contract.Cancelled)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "answer", s.answer("d2"), "deleted")
	})
	same(t, "answered", heard(w)[1].Asked.UUID, "u2")
}

func TestLooksThatFailLeaveTheApprovalOpen(t *testing.T) {
	for name, err := range map[string]error{"away": down(), "refuses": fails(contract.KindPeerFailed, "not supported")} {
		t.Run(name, func(t *testing.T) {
			w := &world{DelegateFn: (&writer{begun: asksFor("u1", "Sure?"), broken: err, answered: remote(contract.TaskCompleted, "deleted")}).delegate}
			converse(t, w, tree(ask("clean up")), func(s *session) {
				s.sleep(time.Hour)
				s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
				s.rest()
				same(t, "answer", s.answer("d1"), "deleted")
			})
		})
	}
}
