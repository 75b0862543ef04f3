package e2e_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/workflows"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential/header"
)

// stage is another agent, as the activities of a worker see it. looks are the results of
// successive reads of the task, the last of which is repeated. deaf is the number of rejections
// and cancellations that fail because the agent is unavailable.
type stage struct {
	mu           sync.Mutex
	begun        contract.DelegateResult
	looks        []contract.DelegateResult
	looked, deaf int
}

func (s *stage) delegate(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case in.Decision == contract.Rejected || in.Cancel:
		if s.deaf--; s.deaf >= 0 {
			return contract.DelegateResult{}, temporal.NewApplicationError("connection refused", string(contract.KindPeerUnavailable))
		}
		return remoteTask(contract.TaskCanceled), nil
	case in.Decision == contract.Approved:
		return remoteTask(contract.TaskCompleted), nil
	case in.TaskID == "":
		return s.begun, nil
	}
	s.looked++
	if len(s.looks) > 1 {
		defer func() { s.looks = s.looks[1:] }()
	}
	return s.looks[0], nil
}

func (s *stage) seen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked
}

func remoteTask(state contract.TaskState) contract.DelegateResult {
	r := contract.DelegateResult{State: state, TaskID: "task-1", ContextID: "context-1", Text: contract.Inline("It is " + string(state) + ".")}
	if state == contract.TaskInputRequired {
		r.Asked = &contract.Origin{
			Chain: []string{"archive"}, UUID: contract.NameUUID("archive", "approval"), Tool: "note_add", Reason: contract.ReasonDestructive,
			Arguments: contract.JSON{Raw: json.RawMessage(`{"name":"x"}`)},
		}
	}
	return r
}

// perform runs a worker with the stage's activities.
func (s *stage) perform(t *testing.T, c client.Client) {
	t.Helper()
	w := worker.New(c, contract.DefaultTaskQueue, worker.Options{})
	workflows.Register(w)
	play(w, contract.ActivityDelegate, s.delegate)
	play(w, contract.ActivityExport, func(context.Context, contract.ExportInput) (contract.ExportResult, error) {
		return contract.ExportResult{}, nil
	})
	play(w, contract.ActivityGenerate, func(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
		return contract.GenerateResult{Text: contract.Inline("Hello!"), DraftID: in.DraftID, Usage: contract.Usage{Calls: 1}}, nil
	})
	play(w, contract.ActivityCompose, func(context.Context, contract.ComposeInput) (contract.ComposeResult, error) {
		raw := json.RawMessage(`{"message":"hello"}`)
		return contract.ComposeResult{Text: contract.Inline("hello"), Arguments: contract.JSON{Raw: raw}, SHA256: contract.Hash(raw)}, nil
	})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
}

func play[In, Out any](w worker.Worker, a contract.Activity[In, Out], f func(context.Context, In) (Out, error)) {
	w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: a.Name})
}

// begin starts a task of an agent with a model, or of one that only delegates.
func begin(t *testing.T, c client.Client, delegates bool) client.WorkflowRun {
	t.Helper()
	in := contract.ConversationInput{
		ID: contract.NameUUID(t.Name(), "conversation"), SessionID: "s-1", ContextID: "context-0", Task: true, Chain: []string{"front"},
		Agent: contract.Agent{Name: "tester", Model: contract.DemoModel},
		First: &contract.MessageSignal{RequestID: "r1", Text: contract.Inline("hello")},
	}
	if delegates {
		in.Agent.Tree = &contract.Node{Name: "ask", Type: contract.NodeA2A, Peer: &contract.Peer{Name: "archive", URL: "http://archive"}}
	}
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: contract.ConversationWorkflowID(in.ID), TaskQueue: contract.DefaultTaskQueue,
	}, contract.WorkflowConversation, in)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// waits returns the pending approval of a conversation.
func waits(t *testing.T, c client.Client, workflowID string) (p contract.PendingApproval) {
	t.Helper()
	eventually(t, "an approval", func() bool {
		v, err := c.QueryWorkflow(t.Context(), workflowID, "", contract.QueryPending)
		var list []contract.PendingApproval
		if err != nil || v.Get(&list) != nil || len(list) == 0 {
			return false
		}
		p = list[0]
		return true
	})
	return p
}

func decideOn(t *testing.T, c client.Client, p contract.PendingApproval, approved bool) {
	t.Helper()
	err := c.SignalWorkflow(t.Context(), contract.ApprovalWorkflowID(p.UUID), "", contract.SignalDecide,
		contract.DecideSignal{Approved: approved, By: "recorder", Reason: "as recorded"})
	if err != nil {
		t.Fatal(err)
	}
}

func ends(t *testing.T, run client.WorkflowRun, want contract.Outcome) {
	t.Helper()
	var r contract.ConversationResult
	if err := run.Get(t.Context(), &r); err != nil || r.Outcome != want {
		t.Fatalf("the task ended with %+v, %v", r, err)
	}
}

// TestRecordHistoriesOfTasks runs tasks on a real server, with fake activities. With -record it
// writes their histories.
func TestRecordHistoriesOfTasks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.external(embedded.Options{})
	for name, drive := range map[string]func(t *testing.T, c client.Client){
		"a task that ends": func(t *testing.T, c client.Client) {
			(&stage{}).perform(t, c)
			run := begin(t, c, false)
			ends(t, run, contract.OutcomeDone)
			keep(t, c, "task", run.GetID())
		},
		"looks, and an approval": func(t *testing.T, c client.Client) {
			asks := remoteTask(contract.TaskInputRequired)
			s := &stage{begun: remoteTask(contract.TaskWorking), looks: []contract.DelegateResult{remoteTask(contract.TaskWorking), asks, asks}}
			s.perform(t, c)
			run := begin(t, c, true)
			p := waits(t, c, run.GetID())
			eventually(t, "a look at the task that waits", func() bool { return s.seen() > 2 })
			decideOn(t, c, p, true)
			ends(t, run, contract.OutcomeDone)
			keep(t, c, "task-delegation", run.GetID())
			keep(t, c, "task-delegation-approval", contract.ApprovalWorkflowID(p.UUID))
		},
		"a rejection that is delivered": func(t *testing.T, c client.Client) {
			asks := remoteTask(contract.TaskInputRequired)
			(&stage{begun: asks, looks: []contract.DelegateResult{asks}, deaf: 2}).perform(t, c)
			run := begin(t, c, true)
			p := waits(t, c, run.GetID())
			decideOn(t, c, p, false)
			ends(t, run, contract.OutcomeRejected)
			id := contract.DeliveryWorkflowID(contract.NameUUID(p.Call, "answer-1"))
			var told contract.DeliveryResult
			if err := c.GetWorkflow(t.Context(), id, "").Get(t.Context(), &told); err != nil || told.State != contract.TaskCanceled {
				t.Fatalf("the delivery ended with %+v, %v", told, err)
			}
			keep(t, c, "task-rejected", run.GetID())
			keep(t, c, "delivery", id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := client.Dial(client.Options{
				HostPort: h.server, Logger: quiet{},
				ContextPropagators: []workflow.ContextPropagator{header.Propagator()},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			drive(t, c)
		})
	}
}
