package backend

import (
	"context"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"agent-stop-and-go/workflows/contract"
)

// Typist implements Approvals. The SDK does not show workflows who sent a signal, so it is read
// from the history.
func (t *Temporal) Typist(ctx context.Context, uuid string) (string, error) {
	var s senders
	events := t.client.GetWorkflowHistory(ctx, contract.ApprovalWorkflowID(uuid), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return "", fault(err, "read the history of an approval")
		}
		s.take(e)
	}
	return s.one(), nil
}

// senders collects who sent the decisions that the last workflow task of an approval has read. It
// is the one that decides.
type senders struct{ arrived, read []string }

func (s *senders) take(e *historypb.HistoryEvent) {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
		if a := e.GetWorkflowExecutionSignaledEventAttributes(); a.GetSignalName() == contract.SignalDecide {
			s.arrived = append(s.arrived, a.GetIdentity())
		}
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
		s.arrived, s.read = nil, s.arrived
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED: // by the task that was completed
		if r := e.GetWorkflowExecutionUpdateAcceptedEventAttributes().GetAcceptedRequest(); r.GetInput().GetName() == contract.UpdateDecide {
			s.read = append(s.read, r.GetMeta().GetIdentity())
		}
	}
}

// one returns the sender, or "" if there were several.
func (s *senders) one() string {
	if all := slices.Compact(slices.Sorted(slices.Values(s.read))); len(all) == 1 {
		return all[0]
	}
	return ""
}
