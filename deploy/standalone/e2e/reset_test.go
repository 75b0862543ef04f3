package e2e_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/workflows/contract"
)

// operator does what people do with `temporal workflow …`.
type operator struct {
	t *testing.T
	client.Client
}

// reset resets a workflow to its first or its last completed workflow task.
func (o operator) reset(id string, first bool) {
	o.t.Helper()
	if err := o.tryReset(id, first); err != nil {
		o.t.Fatal(err)
	}
}

func (o operator) tryReset(id string, first bool) error {
	var tasks []int64
	events := o.GetWorkflowHistory(o.t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return err
		}
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED {
			tasks = append(tasks, e.GetEventId())
		}
	}
	if len(tasks) == 0 {
		return errors.New("nothing has happened yet")
	}
	to := tasks[len(tasks)-1]
	if first {
		to = tasks[0]
	}
	_, err := o.ResetWorkflowExecution(o.t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: "default", WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id},
		Reason: "by hand", WorkflowTaskFinishEventId: to, RequestId: uuid.NewString(),
	})
	return err
}

func (o operator) terminate(id string) {
	o.t.Helper()
	if err := o.TerminateWorkflow(o.t.Context(), id, "", "by hand"); err != nil {
		o.t.Fatal(err)
	}
}

func (o operator) cancel(id string) {
	o.t.Helper()
	if err := o.CancelWorkflow(o.t.Context(), id, ""); err != nil {
		o.t.Fatal(err)
	}
}

// awaited returns the approvals of a conversation whose workflows run.
func (o operator) awaited(id string) (uuids []string) {
	for _, w := range running(o.t, o.Client, id) {
		if uuid, ok := strings.CutPrefix(w, contract.ApprovalWorkflowID("")); ok {
			uuids = append(uuids, uuid)
		}
	}
	return uuids
}

// stopped is a conversation at a moment at which an operator may interfere.
type stopped struct {
	*api
	operator
	h        *home
	id       string // ID of the conversation
	workflow string
	tool     string
	uuid     string // UUID of its first approval
}

var moments = []string{"model call", "approval open", "call running", "after it"}

// stopAt brings a new conversation to a moment. goOn lets it continue.
func stopAt(t *testing.T, api *api, h *home, moment string) (s *stopped, goOn func()) {
	t.Helper()
	s = &stopped{api: api, operator: operator{t, h.dial()}, h: h, tool: "note_add"}
	goOn = func() {}
	switch moment {
	case "model call":
		s.tool = "note_list"
		entered, release := h.holdModel()
		r := api.want(201, "POST", "/conversations", "")
		s.id = r.Conversation.ID
		go api.try("POST", "/conversations/"+s.id+"/messages", messageJSON("call note_list"))
		<-entered
		goOn = release
	default:
		if moment == "call running" {
			s.tool = "slow_write"
		}
		asked := api.ask("call " + s.tool + ` {"name":"` + moment + `"}`)
		s.id, s.uuid = asked.Conversation.ID, asked.Result.Approval.UUID
	}
	s.workflow = contract.ConversationWorkflowID(s.id)
	switch moment {
	case "call running":
		go api.try("POST", "/approvals/"+s.uuid, `{"approved":true}`)
		<-h.tools.entered
		goOn = h.tools.release
	case "after it":
		api.decide(s.uuid, `{"approved":true}`)
	}
	return s, goOn
}

// pendingOther waits until the only pending approval is a new one.
func (s *stopped) pendingOther(not ...string) *approval {
	s.operator.t.Helper()
	var p *approval
	eventually(s.operator.t, "another approval waits, and it alone", func() bool {
		p = s.conversation(s.id).PendingApproval
		return p != nil && !slices.Contains(not, p.UUID) && slices.Equal(s.awaited(s.id), []string{p.UUID})
	})
	return p
}

func (s *stopped) calls() int { return len(s.h.tools.called(s.tool)) }

// A reset to the beginning repeats requests for approval, but no calls.
func TestAResetToTheBeginningRepeatsNoCall(t *testing.T) {
	for _, moment := range moments {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			api, _ := h.inside()
			s, goOn := stopAt(t, api, h, moment)
			s.reset(s.workflow, true)
			goOn()
			if moment == "model call" {
				eventually(t, "it answers", func() bool { return slices.Contains(api.conversation(s.id).texts(), "The tool said: no notes") })
				return
			}
			before := s.calls()
			p := s.pendingOther(s.uuid)
			done := api.decide(p.UUID, `{"approved":true}`)
			if before == 0 {
				same(t, "answer", strings.HasPrefix(done.Result.Response, "The tool said: added"), true)
				same(t, "calls", s.calls(), 1)
				return
			}
			doubt := s.pendingOther(s.uuid, p.UUID)
			same(t, "asks", strings.HasPrefix(doubt.Description, "**OUTCOME UNKNOWN: "+s.tool), true)
			same(t, "says why", strings.Contains(doubt.Description, "by a run of this conversation that has been reset"), true)
			done = api.decide(doubt.UUID, `{"content":{"outcome":"ran","result":"it is there"}}`)
			same(t, "answer", strings.HasSuffix(done.Result.Response, "it is there"), true)
			same(t, "calls", s.calls(), 1)
		})
	}
}

// After a reset to a later moment, pending approvals belong to the new run.
func TestAResetToTheLastMomentKeepsTheApproval(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	s, _ := stopAt(t, api, h, "approval open")
	s.reset(s.workflow, false)
	done := api.decide(s.uuid, `{"approved":true}`)
	same(t, "answer", done.Result.Response, "The tool said: added approval open")
	same(t, "calls", s.calls(), 1)
	eventually(t, "nothing waits", func() bool { return len(s.awaited(s.id)) == 0 })
}

// A reset run may have fewer messages than the exported file; the file still follows the run.
func TestTheFileFollowsAReset(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	s, _ := stopAt(t, api, h, "after it")
	for range 3 {
		api.say(s.id, "say hello")
	}
	file := filepath.Join(h.dir, "data", contract.ConversationFile(s.id))
	for last := s.uuid; ; last = api.conversation(s.id).PendingApproval.UUID {
		before := api.conversation(s.id).Version
		s.reset(s.workflow, true)
		p := s.pendingOther(s.uuid, last)
		eventually(t, "the file says what waits", func() bool { return strings.Contains(content(t, file), p.UUID) })
		if now := api.conversation(s.id).Version; now <= before {
			t.Errorf("version %d comes after %d", now, before)
		}
		if last != s.uuid {
			return
		}
	}
}

const resetTree = `agent:
  name: pipeline
  type: sequential
  agents:
    - name: sides
      type: parallel
      approval: required
      agents:
        - {name: left, prompt: 'do: call tick {"name":"left {user_message}"}'}
        - {name: right, prompt: 'do: call tick {"name":"right {user_message}"}'}
    - {name: after, prompt: 'do: say done'}
`

// A conversation, or one of its nodes, is reset while its branches wait.
func TestAResetOfATreeEndsTheOldBranches(t *testing.T) {
	for _, which := range []string{"conversation", "turn", "node"} {
		t.Run(which, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.extra = resetTree
			api, _ := h.inside()
			asked := api.ask("go")
			s := &stopped{api: api, operator: operator{t, h.dial()}, h: h, id: asked.Conversation.ID, tool: "tick"}
			eventually(t, "both branches wait", func() bool { return len(api.conversation(s.id).PendingApprovals) == 2 })
			old := s.pendingUUIDs()
			eventually(t, "both are listed", func() bool { return len(s.awaited(s.id)) == 2 })
			api.decide(old[0], `{"approved":true}`)
			eventually(t, "one has run", func() bool { return s.calls() == 1 })
			s.reset(s.workflowOf(which), true)
			eventually(t, "two others wait, and they alone", func() bool {
				now := s.pendingUUIDs()
				waits := s.awaited(s.id)
				slices.Sort(now)
				slices.Sort(waits)
				return len(now) == 2 && slices.Equal(now, waits) && !slices.Contains(now, old[0]) && !slices.Contains(now, old[1])
			})
			for n := 0; len(s.pendingUUIDs()) > 0 && n < 5; n++ {
				p := api.conversation(s.id).PendingApprovals[0]
				answer := `{"approved":true}`
				if strings.Contains(p.Description, "OUTCOME UNKNOWN") {
					answer = `{"answer":"ran"}`
				}
				api.decide(p.UUID, answer)
			}
			eventually(t, "it is done", func() bool { return slices.Contains(api.conversation(s.id).texts(), "[after] done") })
			once(t, h, "left go", "right go")
			eventually(t, "nothing of it runs but the conversation", func() bool { return len(running(t, s.Client, s.id)) == 1 })
		})
	}
}

// A workflow is reset, and what comes of that is reset again: its history has points of both runs.
func TestAResetOfAReset(t *testing.T) {
	for _, which := range []string{"conversation", "turn", "node"} {
		for _, second := range []string{"beginning", "last moment"} {
			t.Run(which+", then to the "+second, func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				h.extra = resetTree + "request_timeout: 2s\n"
				api, _ := h.inside()
				asked := api.ask("go")
				s := &stopped{api: api, operator: operator{t, h.dial()}, h: h, id: asked.Conversation.ID, tool: "tick"}
				old := s.pendingTwo(nil)
				s.reset(s.workflowOf(which), true)
				now := s.pendingTwo(old)
				if second == "beginning" {
					s.reset(s.workflowOf(which), true)
					s.pendingTwo(now)
				} else {
					s.reset(s.workflowOf(which), false)
				}
				eventually(t, "it is done", func() bool {
					for _, p := range api.conversation(s.id).PendingApprovals {
						answer := `{"approved":true}`
						if strings.Contains(p.Description, "OUTCOME UNKNOWN") {
							answer = `{"answer":"ran"}`
						}
						_, _ = api.try("POST", "/approvals/"+p.UUID, answer) // it may be withdrawn meanwhile
					}
					return slices.Contains(api.conversation(s.id).texts(), "[after] done")
				})
				once(t, h, "left go", "right go")
				eventually(t, "nothing of it runs but the conversation", func() bool { return len(running(t, s.Client, s.id)) == 1 })
			})
		}
	}
}

// pendingTwo waits until two other approvals are pending, and only their workflows run.
func (s *stopped) pendingTwo(not []string) (now []string) {
	s.operator.t.Helper()
	eventually(s.operator.t, "two approvals wait, and they alone", func() bool {
		now = s.pendingUUIDs()
		waits := s.awaited(s.id)
		slices.Sort(now)
		slices.Sort(waits)
		return len(now) == 2 && slices.Equal(now, waits) && !slices.ContainsFunc(now, func(u string) bool { return slices.Contains(not, u) })
	})
	return now
}

func (s *stopped) pendingUUIDs() (out []string) {
	for _, p := range s.conversation(s.id).PendingApprovals {
		out = append(out, p.UUID)
	}
	return out
}

func (s *stopped) workflowOf(which string) string {
	ids := running(s.operator.t, s.Client, s.id)
	turn := contract.NodeWorkflowID(contract.TurnWorkflowID(s.id, 1), "pipeline", 0)
	for _, id := range ids {
		switch {
		case which == "conversation" && id == contract.ConversationWorkflowID(s.id),
			which == "turn" && id == turn, which == "node" && strings.HasPrefix(id, turn+"/"):
			return id
		}
	}
	s.operator.t.Fatalf("no %s among %v", which, ids)
	return ""
}

// If an operator ends a conversation at any moment, it can be read, no approvals stay pending,
// and approved calls have run at most once.
func TestAnEndByHandLeavesNothingBehind(t *testing.T) {
	for _, moment := range moments {
		for _, how := range []string{"terminate", "cancel"} {
			t.Run(how+" at "+moment, func(t *testing.T) {
				t.Parallel()
				h := newHome(t)
				start := h.inside
				if moment == "model call" { // ends at once only where the worker's own server is told
					start = h.whole
				}
				api, _ := start()
				s, goOn := stopAt(t, api, h, moment)
				if how == "terminate" {
					s.terminate(s.workflow)
				} else {
					s.cancel(s.workflow)
				}
				goOn()
				eventually(t, "nothing of it runs", func() bool { return len(running(t, s.Client, s.id)) == 0 })
				eventually(t, "it is completed", func() bool { return api.conversation(s.id).Status == "completed" })
				if n, most := s.calls(), map[string]int{"call running": 1, "after it": 1}[moment]; n > most {
					t.Errorf("%d calls", n)
				}
				if s.uuid != "" && moment == "approval open" {
					late := api.do("POST", "/approvals/"+s.uuid, `{"approved":true}`)
					same(t, "a late decision", late.Status, 409)
					same(t, "calls", s.calls(), 0)
				}
				say := api.do("POST", "/conversations/"+s.id+"/messages", messageJSON("hello"))
				same(t, "a message afterwards", say.Status, 409)
			})
		}
	}
}

// An approval workflow that an operator ends grants nothing.
func TestAnApprovalEndedByHandApprovesNothing(t *testing.T) {
	for _, how := range []string{"terminate", "cancel"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			api, _ := h.inside()
			s, _ := stopAt(t, api, h, "approval open")
			if how == "terminate" {
				s.terminate(contract.ApprovalWorkflowID(s.uuid))
			} else {
				s.cancel(contract.ApprovalWorkflowID(s.uuid))
			}
			eventually(t, "nothing waits", func() bool { return api.conversation(s.id).Status == "active" })
			same(t, "calls", s.calls(), 0)
			same(t, "usable", api.say(s.id, "hello").Result.Response, "You said: hello")
		})
	}
}

// holdModel makes the model hold its responses.
func (h *home) holdModel() (entered <-chan struct{}, release func()) {
	in, out := make(chan struct{}, 100), make(chan struct{})
	h.model.Always(func(w http.ResponseWriter, r *http.Request) {
		in <- struct{}{}
		<-out
		obedient(w, r)
	})
	release = sync.OnceFunc(func() { close(out) })
	h.t.Cleanup(release)
	return in, release
}

// Workflows left by the run before a reset are ended once, not in every turn.
func TestTurnsAfterAResetHaveNothingToEnd(t *testing.T) {
	for name, tree := range map[string]string{"agent": "", "tree": resetTree} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.extra = tree
			api, p := h.inside()
			id := api.ask("hello").Conversation.ID
			o := operator{t, p.Client}
			api.want(200, "POST", "/conversations/"+id+"/cancel", "")
			o.reset(contract.ConversationWorkflowID(id), true)
			for range 3 {
				api.do("POST", "/conversations/"+id+"/messages", messageJSON("hello"))
				api.do("POST", "/conversations/"+id+"/cancel", "")
			}
			same(t, "ends what was left", o.activities(contract.ConversationWorkflowID(id), contract.ActivityWithdraw.Name), 1)
		})
	}
}

// activities counts the scheduled activities of a type in the latest run of a workflow.
func (o operator) activities(workflow, kind string) (n int) {
	for _, e := range historyOf(o.t, o.Client, workflow, "").GetEvents() {
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == kind {
			n++
		}
	}
	return n
}
