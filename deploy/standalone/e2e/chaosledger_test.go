package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/workflows/contract"
)

// entry is an approval as Temporal stores it.
type entry struct {
	contract.ApprovalInput
	result contract.ApprovalResult // its Decision is from the end of the workflow
}

// grants reports whether it allows a call of a tool of this agent.
func (e entry) grants() bool {
	return e.result.Decision == contract.Approved && e.result.Outcome != contract.OutcomeRan && e.Reason != contract.ReasonRemote
}

// name returns the name in the call's arguments.
func (e entry) name() string { return nameIn(string(e.Arguments.Raw)) }

// ledger has all approvals of one agent at a server.
type ledger []entry

// readLedger reads the approvals of an agent, and requires that the API returns the same.
func readLedger(t *testing.T, o operator, a *api, agent string) (out ledger) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	all, err := o.list(ctx, fmt.Sprintf("WorkflowType = '%s' AND %s = '%s'", contract.WorkflowApproval, contract.AttrAgentName, agent))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range latest(all) {
		e, err := readEntry(ctx, o, w.GetExecution().GetWorkflowId(), w.GetStatus())
		if err != nil {
			t.Errorf("%s: %v", w.GetExecution().GetWorkflowId(), err)
			continue
		}
		said := a.do("GET", "/approvals/"+e.UUID, "")
		if said.Status != 200 || contract.Decision(said.Body.Decision.Decision) != e.result.Decision {
			t.Errorf("approval %s: the workflow says %s, the API %d %s", e.UUID, e.result.Decision, said.Status, said.Raw)
		}
		out = append(out, e)
	}
	return out
}

// latest returns the last run of each workflow.
func latest(all []*workflow.WorkflowExecutionInfo) (out []*workflow.WorkflowExecutionInfo) {
	last := map[string]*workflow.WorkflowExecutionInfo{}
	for _, w := range all {
		id := w.GetExecution().GetWorkflowId()
		if was := last[id]; was == nil || was.GetStartTime().AsTime().Before(w.GetStartTime().AsTime()) {
			last[id] = w
		}
	}
	return slices.Collect(maps.Values(last))
}

func readEntry(ctx context.Context, o operator, id string, status enums.WorkflowExecutionStatus) (e entry, err error) {
	first, err := o.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
	if err != nil {
		return e, err
	}
	input := first.GetWorkflowExecutionStartedEventAttributes().GetInput()
	if err := converter.GetDefaultDataConverter().FromPayloads(input, &e.ApprovalInput); err != nil {
		return e, err
	}
	switch status {
	case enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
	case enums.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		err = o.GetWorkflow(ctx, id, "").Get(ctx, &e.result)
	default:
		e.result.Decision = contract.Terminated
	}
	return e, err
}

// idle waits until no workflow of an agent's conversations runs.
func (e *estate) idle(t *testing.T, o operator, a *api, queue string) {
	t.Helper()
	var open []*workflow.WorkflowExecutionInfo
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		open, err = o.open(ctx, fmt.Sprintf("TaskQueue = '%s' AND WorkflowType != '%s'", queue, contract.WorkflowCatalogue))
		cancel()
		open = slices.DeleteFunc(open, func(*workflow.WorkflowExecutionInfo) bool { return e.left(a) })
		if err == nil && len(open) == 0 {
			return
		}
	}
	for _, w := range open {
		id := conversationAt(w)
		t.Errorf("%s %s still runs: %v of %v", w.GetType().GetName(), w.GetExecution().GetWorkflowId(), e.beginning(a, id), e.visitor(e.beginning(a, id)))
	}
	if err != nil {
		t.Error(err)
	}
}

// left reports whether a conversation may have no caller that ends it. This holds at the other
// agent: the calling conversation may have been terminated, or may not know that the delegated
// one has started.
func (e *estate) left(a *api) bool { return a == e.farAPI }

// beginning returns the name in the first message of a conversation.
func (e *estate) beginning(a *api, id string) string {
	got, _ := e.insist(a, "GET", "/conversations/"+id+"?include=messages", "")
	for _, m := range got.Body.Conversation.Messages {
		if m.Role == "user" {
			_, name, _ := strings.Cut(nameIn(m.Content), " ")
			return name
		}
	}
	return ""
}

// conversationAt returns the ID of the conversation that a workflow belongs to.
func conversationAt(w *workflow.WorkflowExecutionInfo) (id string) {
	p := w.GetSearchAttributes().GetIndexedFields()[contract.AttrConversationID]
	if p == nil || converter.GetDefaultDataConverter().FromPayload(p, &id) != nil {
		return ""
	}
	return id
}

// autopsy logs the pending work of a conversation's workflows.
func (v *visitor) autopsy(t *testing.T) {
	t.Helper()
	o, hangUp := v.operator(v.home)
	defer hangUp()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	open, err := o.open(ctx, fmt.Sprintf("%s = '%s'", contract.AttrConversationID, v.id))
	t.Logf("%s %s: %v %d workflows run", v.name, v, err, len(open))
	for _, w := range open {
		d, err := o.DescribeWorkflowExecution(ctx, w.GetExecution().GetWorkflowId(), "")
		if err != nil {
			t.Log(err)
			continue
		}
		t.Logf("%s: %d events, task %v, activities %v, children %v", w.GetExecution().GetWorkflowId(), d.GetWorkflowExecutionInfo().GetHistoryLength(),
			d.GetPendingWorkflowTask(), d.GetPendingActivities(), d.GetPendingChildren())
		logLast(ctx, t, o, w.GetExecution().GetWorkflowId())
	}
}

// logLast logs the last events of a workflow.
func logLast(ctx context.Context, t *testing.T, o operator, id string) {
	var last []string
	for events := o.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		e, err := events.Next()
		if err != nil {
			t.Log(err)
			return
		}
		last = append(last, fmt.Sprintf("%d %s %s %.150s", e.GetEventId(), e.GetEventTime().AsTime().Format("15:04:05.0"), e.GetEventType(), fmt.Sprint(e.GetAttributes())))
	}
	t.Log(strings.Join(last[max(0, len(last)-15):], "\n"))
}
