package e2e_test

import (
	"errors"
	"net/http"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/failure/v1"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
)

// All processes die during a model call. The next process does not wait for the heartbeat
// timeout of the previous one: it reports the attempt as failed. The benchmark measures the
// duration.
func TestAModelIsAskedAgainSoonAfterKillMinusNine(t *testing.T) {
	eachDeath(t, "execution: regular\n", func(t *testing.T, m *mortal) {
		requests := make(chan struct{}, 10)
		hanging := make(chan struct{})
		m.model.Always(func(w http.ResponseWriter, r *http.Request) {
			requests <- struct{}{}
			select {
			case <-hanging:
				obedient(w, r)
			case <-r.Context().Done():
			}
		})
		id := m.want(201, "POST", "/conversations", "").Conversation.ID
		go m.try("POST", "/conversations/"+id+"/messages", messageJSON("say hello"))
		<-requests
		m.die()
		<-requests
		close(hanging)
		eventually(t, "the answer is there", func() bool { return m.lastText(id) == "hello" })
		again := m.activity(t, id, contract.ActivityGenerate.Name)
		if again.attempt != 2 || !missedHeartbeat(again.last) {
			t.Errorf("attempt %d after %v", again.attempt, again.last)
		}
	})
}

// All processes die during a destructive call: a human is asked for its outcome at once, and
// the call is not repeated. An activity has been cut off; the next process finds what a local
// activity has claimed.
func TestTheOutcomeOfADestructiveCallIsAskedSoonAfterKillMinusNine(t *testing.T) {
	for _, mode := range []string{"regular", "auto"} {
		t.Run(mode, func(t *testing.T) {
			eachDeath(t, "execution: "+mode+"\n", func(t *testing.T, m *mortal) {
				asked := m.midCall(m.api)
				m.die()
				id := asked.Conversation.ID
				eventually(t, "a human is asked about the lost call", func() bool {
					p := m.conversation(id).PendingApproval
					return p != nil && p.UUID != asked.Result.Approval.UUID && contains(p.Description, "OUTCOME UNKNOWN")
				})
				if n := len(m.tools.called("slow_write")); n != 1 {
					t.Errorf("the call was made %d times", n)
				}
				lost := m.activity(t, id, contract.ActivityCallTool.Name)
				claimed := lost.end.GetApplicationFailureInfo().GetType() == string(contract.KindOutcomeUnknown)
				if lost.attempt != 1 || !missedHeartbeat(lost.end) && (mode == "regular" || !claimed) {
					t.Errorf("attempt %d ended with %v", lost.attempt, lost.end)
				}
			})
		})
	}
}

// After an orderly stop there are no tasks to give back, and the tasks of a killed process are
// given back once.
func TestWhatWasGivenBackIsNotGivenBackAgain(t *testing.T) {
	t.Parallel()
	const line = "ended in the middle of work"
	h := newHome(t)
	api, agent := h.outside()
	asked := h.midCall(api)
	agent.kill()
	api, agent = h.outside()
	if !contains(agent.out.String(), line) {
		t.Errorf("the log does not tell of the work that goes on:\n%s", agent.out)
	}
	h.tools.release()
	eventually(t, "a human is asked about the lost call", func() bool {
		p := api.conversation(asked.Conversation.ID).PendingApproval
		return p != nil && p.UUID != asked.Result.Approval.UUID
	})
	if err := agent.terminate(); err != nil {
		t.Fatal(err)
	}
	_, agent = h.outside()
	if contains(agent.out.String(), line) {
		t.Errorf("after a stop in good order:\n%s", agent.out)
	}
}

// A worker is killed during a turn: the last exported state can still be read, and after a
// restart the conversation itself.
func TestAConversationCanBeReadWithoutAWorker(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api := h.pieces()
	rise := func() *proc { return start(t, h.dir, "worker", h.environ(), "--config", h.configFile()) }
	worker := rise()
	asked := api.ask("call slow_write")
	id := asked.Conversation.ID
	worker.kill()
	dead := api.conversation(id)
	if dead.AsOf.IsZero() || dead.PendingApproval == nil || dead.PendingApproval.UUID != asked.Result.Approval.UUID {
		t.Errorf("what was exported: %+v", dead)
	}
	rise()
	eventually(t, "the conversation tells itself", func() bool { return api.conversation(id).AsOf.IsZero() })
	h.tools.release()
	if done := api.decide(asked.Result.Approval.UUID, `{"approved":true}`); done.Result.Response != "The tool said: done at last" {
		t.Errorf("afterwards: %+v", done.Result)
	}
}

// lastText returns the text of the last message.
func (a *api) lastText(id string) string {
	a.t.Helper()
	m := a.conversation(id).Messages
	return m[len(m)-1].Content
}

// seen is an activity according to the history.
type seen struct {
	attempt   int32
	last, end *failure.Failure // failures of the previous and of the last attempt
}

// activity returns the last activity of a name.
func (m *mortal) activity(t *testing.T, id, name string) (a seen) {
	t.Helper()
	var scheduled int64
	for _, e := range historyOf(t, m.dial(), contract.ConversationWorkflowID(id), "").Events {
		switch e.GetEventType() {
		case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == name {
				scheduled = e.GetEventId()
			}
		case enums.EVENT_TYPE_ACTIVITY_TASK_STARTED:
			if s := e.GetActivityTaskStartedEventAttributes(); s.GetScheduledEventId() == scheduled {
				a.attempt, a.last = s.GetAttempt(), s.GetLastFailure()
			}
		case enums.EVENT_TYPE_ACTIVITY_TASK_FAILED:
			if f := e.GetActivityTaskFailedEventAttributes(); f.GetScheduledEventId() == scheduled {
				a.end = f.GetFailure()
			}
		}
	}
	return a
}

// missedHeartbeat reports whether workflows treat a failure as a missed heartbeat, although it
// is not the server's timeout.
func missedHeartbeat(f *failure.Failure) bool {
	var timeout *temporal.TimeoutError
	return f.GetApplicationFailureInfo() != nil && errors.As(temporal.GetDefaultFailureConverter().FailureToError(f), &timeout)
}
