package e2e_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/workflows/contract"
)

const auto = "execution: auto\n"

// slowModel holds each request until the test releases it.
type slowModel struct {
	requests chan struct{}
	goOn     chan struct{}
	asked    atomic.Int32
}

func slowly(h *home) *slowModel {
	s := &slowModel{requests: make(chan struct{}, 10), goOn: make(chan struct{})}
	h.model.Always(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		s.requests <- struct{}{}
		select {
		case <-s.goOn:
			obedient(w, r)
		case <-r.Context().Done():
		}
	})
	return s
}

// handedOver waits for the activity that joins a call, and with beats also for its first
// heartbeat: a kill between the server's response to a poll and its record of it costs a timeout.
func handedOver(t *testing.T, c client.Client, id, activity string, beats bool) {
	t.Helper()
	eventually(t, "the call is handed over", func() bool {
		d, err := c.DescribeWorkflowExecution(context.Background(), contract.ConversationWorkflowID(id), "")
		if err != nil || len(d.GetPendingActivities()) != 1 {
			return false
		}
		a := d.GetPendingActivities()[0]
		return a.GetActivityType().GetName() == activity && (!beats || a.GetLastHeartbeatTime() != nil)
	})
}

// onlyConversation returns the ID of the only conversation, without asking it.
func onlyConversation(t *testing.T, c client.Client) (id string) {
	t.Helper()
	eventually(t, "the conversation is listed", func() bool {
		list, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowType = '" + contract.WorkflowConversation + "'"})
		if err != nil || len(list.GetExecutions()) != 1 {
			return false
		}
		id = strings.TrimPrefix(list.GetExecutions()[0].GetExecution().GetWorkflowId(), contract.ConversationWorkflowID(""))
		return true
	})
	return id
}

func TestASlowModelIsAskedOnceInAutoMode(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = auto
	api, _ := h.outside()
	m, c := slowly(h), h.dial()
	go api.try("POST", "/conversations", messageJSON("say hello")) // one request: the update that waits is part of the start
	<-m.requests
	began := time.Now()
	id := onlyConversation(t, c)
	handedOver(t, c, id, contract.ActivityGenerate.Name, false)
	if took := time.Since(began); took < time.Second {
		t.Errorf("handed over after %s, though nobody asked", took)
	}
	close(m.goOn)
	eventually(t, "the answer is there", func() bool { return api.lastText(id) == "hello" })
	if n := m.asked.Load(); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

func TestWhoAsksForTheConversationDoesNotWaitForACall(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = auto
	api, _ := h.outside()
	temporal := h.dial() // like its command line
	for name, use := range map[string]func(id string) error{
		"read": func(id string) error {
			api.conversation(id)
			return nil
		},
		"cancel": func(id string) error {
			api.want(200, "POST", "/conversations/"+id+"/cancel", `{}`)
			return nil
		},
		"typed query": func(id string) error {
			_, err := temporal.QueryWorkflow(t.Context(), contract.ConversationWorkflowID(id), "", contract.QueryConversation)
			return err
		},
		"typed signal": func(id string) error {
			return temporal.SignalWorkflow(t.Context(), contract.ConversationWorkflowID(id), "", contract.SignalCancel, contract.CancelSignal{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := slowly(h)
			id := api.want(201, "POST", "/conversations", "").Conversation.ID
			turn := make(chan struct{})
			go func() {
				defer close(turn)
				api.try("POST", "/conversations/"+id+"/messages", messageJSON("say hello"))
			}()
			<-m.requests
			began := time.Now()
			if err := use(id); err != nil {
				t.Error(err)
			}
			if strings.Contains(name, "signal") {
				<-turn
			}
			if took := time.Since(began); took > 1200*time.Millisecond {
				t.Errorf("it took %s", took)
			}
			close(m.goOn)
			<-turn
		})
	}
}

func TestACallOfAutoModeSurvivesKillMinusNineInBothHalves(t *testing.T) {
	for _, half := range []string{"local", "handed over"} {
		t.Run(half, func(t *testing.T) {
			eachDeath(t, auto, func(t *testing.T, m *mortal) {
				model := slowly(m.home)
				id := m.want(201, "POST", "/conversations", "").Conversation.ID
				go m.try("POST", "/conversations/"+id+"/messages", messageJSON("say hello"))
				<-model.requests
				if half != "local" {
					handedOver(t, m.dial(), id, contract.ActivityGenerate.Name, true)
				}
				m.die()
				<-model.requests
				close(model.goOn)
				eventually(t, "the answer is there", func() bool { return m.lastText(id) == "hello" })
				if n := model.asked.Load(); n != 2 {
					t.Errorf("the model was asked %d times", n)
				}
				if half == "local" {
					return
				}
				again := m.activity(t, id, contract.ActivityGenerate.Name)
				if again.attempt != 2 || !missedHeartbeat(again.last) {
					t.Errorf("attempt %d after %v", again.attempt, again.last)
				}
			})
		})
	}
}

// An orderly stop hands a call over, and waits for it.
func TestACallOfAutoModeEndsBeforeItsWorkerDoes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = auto
	api, agent := h.outside()
	m := slowly(h)
	id := api.want(201, "POST", "/conversations", "").Conversation.ID
	go api.try("POST", "/conversations/"+id+"/messages", messageJSON("say hello"))
	<-m.requests
	time.AfterFunc(time.Second, func() { close(m.goOn) })
	if err := agent.terminate(); err != nil {
		t.Fatal(err)
	}
	api, _ = h.outside()
	eventually(t, "the answer is there", func() bool { return api.lastText(id) == "hello" })
	if n := m.asked.Load(); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}
