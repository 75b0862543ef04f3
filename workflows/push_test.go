package workflows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

const pushID = "push-" + conversationID

// runPush runs the Push of a conversation, whose workflow exists unless gone is set. It is
// cancelled when body returns, unless it has ended by then.
func runPush(t *testing.T, w *world, gone bool, in contract.PushInput, body func(s *session)) *session {
	t.Helper()
	s := newSession(t, w, pushID)
	s.seen.SignalFn = func(workflowID, name string, arg any) error {
		w.mark(fmt.Sprint(name, " ", workflowID, " ", arg))
		if gone {
			return &temporal.UnknownExternalWorkflowExecutionError{}
		}
		return nil
	}
	in.ConversationID = conversationID
	s.run(contract.WorkflowPush, in, body, s.env.CancelWorkflow)
	var continued *workflow.ContinueAsNewError
	if err := s.env.GetWorkflowError(); err != nil && !errors.As(err, &continued) && !temporal.IsCanceledError(err) {
		t.Errorf("the push notifications failed: %v", err)
	}
	return s
}

func webhook(id string) contract.PushConfig {
	return contract.PushConfig{ID: id, URL: "https://example.com/" + id, Token: "sealed"}
}

func (s *session) set(ids ...string) {
	for _, id := range ids {
		s.env.SignalWorkflow(contract.SignalSet, webhook(id))
	}
}

func (s *session) publishState(states ...contract.TaskState) {
	for i, state := range states {
		s.env.SignalWorkflow(contract.SignalTask, contract.PushState{State: state, Version: int64(i), ContextID: "c-1", At: s.env.Now()})
	}
}

func (s *session) webhooks() (ids []string) {
	s.t.Helper()
	for _, c := range query[contract.PushView](s, pushID, contract.QueryPushConfigs).Configs {
		ids = append(ids, c.ID)
	}
	return ids
}

// statesSentTo lists the states sent to a webhook, one for each attempt.
func (w *world) statesSentTo(id string) (states []contract.TaskState) {
	for _, in := range read(w, &w.called) {
		if in.Config.ID == id {
			states = append(states, in.State.State)
		}
	}
	return states
}

func states(s ...contract.TaskState) []contract.TaskState { return s }

const (
	submitted  = contract.TaskSubmitted
	working    = contract.TaskWorking
	needsInput = contract.TaskInputRequired
	completed  = contract.TaskCompleted
)

func TestWebhooksAreSetReplacedAndDeleted(t *testing.T) {
	w := &world{}
	runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("a", "b", "c")
		s.rest()
		same(t, "webhooks", s.webhooks(), []string{"a", "b", "c"})
		replaced := webhook("a")
		replaced.URL = "https://example.org/a?key=s3cret"
		s.env.SignalWorkflow(contract.SignalSet, replaced)
		s.env.SignalWorkflow(contract.SignalDelete, contract.PushDelete{ID: "b"})
		s.env.SignalWorkflow(contract.SignalDelete, contract.PushDelete{ID: "unknown"})
		s.rest()
		same(t, "webhooks", s.webhooks(), []string{"a", "c"})
		same(t, "the new one", query[contract.PushView](s, pushID, contract.QueryPushConfigs).Configs[0], replaced)
		if d := s.details(pushID); !strings.Contains(d, "https://example.org/a`") || strings.Contains(d, "s3cret") {
			t.Errorf("details:\n%s", d)
		}
	})
	same(t, "asked", read(w, &w.marks), []string{"follow conversation-" + conversationID + " <nil>"})
	same(t, "told", len(read(w, &w.called)), 0)
}

func TestAConversationThatIsStillToStartIsNotAsked(t *testing.T) {
	w := &world{}
	runPush(t, w, false, contract.PushInput{Coming: true}, func(s *session) {
		s.set("a")
		s.rest()
		same(t, "asked", len(read(w, &w.marks)), 0)
		s.publishState(completed)
		s.rest()
	})
	same(t, "told", w.statesSentTo("a"), states(completed))
}

func TestSignalsThatAreNoUseAreShown(t *testing.T) {
	runPush(t, &world{}, false, contract.PushInput{}, func(s *session) {
		for i := range contract.MaxPushConfigs {
			s.set(fmt.Sprint(i))
		}
		for text, signal := range map[string]any{
			"at most 10 webhooks": webhook("more"), "no id": webhook(""), "must begin with": contract.PushConfig{ID: "x"}, "cannot unmarshal": "yes",
		} {
			s.env.SignalWorkflow(contract.SignalSet, signal)
			s.rest()
			if d := s.details(pushID); !strings.Contains(d, text) {
				t.Errorf("%v: details:\n%s", signal, d)
			}
		}
		same(t, "webhooks", len(s.webhooks()), contract.MaxPushConfigs)
		s.set("0")
		s.rest()
		same(t, "webhooks", len(s.webhooks()), contract.MaxPushConfigs)
	})
}

func TestEveryWebhookIsToldTheStatesInOrder(t *testing.T) {
	w := &world{}
	runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("a", "b")
		for _, state := range states(submitted, working, working, needsInput, working, completed) {
			s.publishState(state)
			s.rest()
		}
		for _, id := range []string{"a", "b"} {
			same(t, id, w.statesSentTo(id), states(submitted, working, needsInput, working, completed))
		}
		o := s.seen.options(contract.ActivityNotify.Name)
		same(t, "summary", o.Summary, "completed to example.com")
		same(t, "attempts", o.Attempts, int32(0))
		if d := s.details(pushID); !strings.Contains(d, "told `completed`") {
			t.Errorf("details:\n%s", d)
		}
	})
	seen := map[string]bool{}
	for _, in := range read(w, &w.called) {
		if seen[in.ID] || !contract.IsUUID(in.ID) {
			t.Errorf("notification %q: not an id of its own", in.ID)
		}
		seen[in.ID] = true
		same(t, "context", in.State.ContextID, "c-1")
	}
}

func TestALateWebhookIsToldThePresentState(t *testing.T) {
	w := &world{}
	runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("a")
		s.publishState(working, needsInput)
		s.rest()
		s.set("late")
		s.rest()
		same(t, "late", w.statesSentTo("late"), states(needsInput))
		s.set("late") // once is enough
		s.rest()
		same(t, "late", w.statesSentTo("late"), states(needsInput))
	})
}

// pushResult returns the result of the workflow.
func (s *session) pushResult() contract.PushResult {
	s.t.Helper()
	var r contract.PushResult
	if err := s.env.GetWorkflowResult(&r); err != nil {
		s.t.Fatalf("the push notifications have no result: %v", err)
	}
	return r
}

func TestPushNotificationsEndADayAfterTheFinalOne(t *testing.T) {
	w := &world{}
	s := runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("a")
		s.publishState(working, completed)
		s.sleep(23 * time.Hour)
		same(t, "webhooks", s.webhooks(), []string{"a"})
		s.set("b") // starts another day
		s.sleep(23 * time.Hour)
		same(t, "ended", s.over, false)
		same(t, "webhooks", s.webhooks(), []string{"a", "b"})
		same(t, "told", w.statesSentTo("b"), states(completed))
		s.sleep(2 * time.Hour)
		same(t, "ended", s.over, true)
	})
	same(t, "result", s.pushResult(), contract.PushResult{ConversationID: conversationID, Notifications: 3})
}

func TestPushNotificationsOfAConversationThatIsOverEnd(t *testing.T) {
	s := runPush(t, &world{}, true, contract.PushInput{}, func(s *session) {
		s.set("a")
		s.sleep(23 * time.Hour)
		same(t, "webhooks", s.webhooks(), []string{"a"})
		if d := s.details(pushID); !strings.Contains(d, "tells nothing any more") {
			t.Errorf("details:\n%s", d)
		}
		s.sleep(2 * time.Hour)
		same(t, "ended", s.over, true)
	})
	same(t, "result", s.pushResult(), contract.PushResult{ConversationID: conversationID})
}

func TestASilentConversationIsAskedAgain(t *testing.T) {
	w := &world{}
	runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("a")
		s.publishState(needsInput)
		s.sleep(15 * 24 * time.Hour)
		same(t, "asked", len(read(w, &w.marks)), 3)
		s.publishState(needsInput) // its answer to the signal
		s.rest()
		same(t, "told", w.statesSentTo("a"), states(needsInput))
	})
}

func TestWhatIsNotDeliveredIsForTheNextRun(t *testing.T) {
	w := &world{NotifyFn: func(contract.NotifyInput) (contract.NotifyResult, error) { return contract.NotifyResult{}, held }}
	first := runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("a", "b")
		s.publishState(needsInput)
		s.rest()
		s.release("notify b", contract.NotifyResult{Status: 200}, nil)
		s.rest()
		s.env.SetCurrentHistoryLength(1_000)
		s.env.SignalWorkflow(contract.SignalDelete, contract.PushDelete{ID: "unknown"})
		s.rest()
		same(t, "ended", s.over, true)
	})
	next := continued(t, first)
	if next.Carried == nil || len(next.Carried.Targets) != 2 || next.Carried.Seq != 2 {
		t.Fatalf("the next run begins with %+v", next)
	}
	id := next.Carried.Targets[0].Queue[0].ID
	w = &world{}
	runPush(t, w, false, next, func(s *session) {
		s.rest()
		same(t, "webhooks", s.webhooks(), []string{"a", "b"})
		same(t, "a", w.statesSentTo("a"), states(needsInput))
		same(t, "b", w.statesSentTo("b"), nil)
		same(t, "the notification", read(w, &w.called)[0].ID, id)
	})
	same(t, "asked", len(read(w, &w.marks)), 0)
}

func continued(t *testing.T, s *session) (next contract.PushInput) {
	t.Helper()
	var err *workflow.ContinueAsNewError
	if !errors.As(s.env.GetWorkflowError(), &err) || err.WorkflowType.Name != contract.WorkflowPush {
		t.Fatalf("it did not continue as new: %v", s.env.GetWorkflowError())
	}
	if e := json.Unmarshal(err.Input.GetPayloads()[0].GetData(), &next); e != nil {
		t.Fatal(e)
	}
	return next
}

func TestADeletedWebhookIsToldNothingMore(t *testing.T) {
	hook := &failingWebhook{}
	w := &world{NotifyFn: hook.notify}
	runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("dead")
		s.publishState(working)
		s.rest()
		s.env.SignalWorkflow(contract.SignalDelete, contract.PushDelete{ID: "dead"})
		s.rest()
		n := len(w.statesSentTo("dead"))
		s.sleep(time.Hour)
		same(t, "attempts", len(w.statesSentTo("dead")), n)
	})
}

func TestAReplacedWebhookIsToldWhatIsOwed(t *testing.T) {
	hook := &failingWebhook{}
	w := &world{NotifyFn: hook.notify}
	runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("dead")
		s.publishState(completed)
		s.rest()
		hook.up = true
		replaced := webhook("dead")
		replaced.URL = "https://example.org/alive"
		s.env.SignalWorkflow(contract.SignalSet, replaced)
		s.rest()
		all := read(w, &w.called)
		same(t, "told at", all[len(all)-1].Config.URL, replaced.URL)
		same(t, "told", all[len(all)-1].State.State, completed)
		n := len(all)
		s.sleep(time.Hour)
		same(t, "attempts", len(read(w, &w.called)), n)
	})
}

func TestPushNotificationsCanBeCancelledInTheMiddle(t *testing.T) {
	hook := &failingWebhook{}
	s := runPush(t, &world{NotifyFn: hook.notify}, false, contract.PushInput{}, func(s *session) {
		s.set("dead")
		s.publishState(working)
		s.rest()
		s.env.SetCurrentHistoryLength(1_000)
		s.env.CancelWorkflow()
		s.rest()
	})
	same(t, "cancelled or continued", s.env.IsWorkflowCompleted(), true)
}
