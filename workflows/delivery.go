package workflows

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential/header"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// Delivery sends another agent a message about one of its tasks, repeatedly until the agent
// receives it: that a request was rejected, or that the task is cancelled. It outlives the
// conversation. It fails only when it is cancelled.
func Delivery(ctx workflow.Context, in contract.DelegateInput) (contract.DeliveryResult, error) {
	out, err := activity.Run(ctx, contract.ActivityDelegate, deliveryOptions(wording.DelegateSummary(in)), in)
	switch {
	case ctx.Err() != nil:
		return contract.DeliveryResult{}, ctx.Err()
	case err == nil && decide.ContinuesAfterRefusal(in, out) && cancelsEndedTasks(ctx):
		return Delivery(ctx, cancellationOf(in))
	case err == nil && out.State == contract.TaskAuthRequired:
		return contract.DeliveryResult{State: out.State, Problem: wording.RemoteWantsLogin(in.Peer.Name)}, nil
	case err != nil:
		return contract.DeliveryResult{Problem: wording.DeliveryFailed(in.Peer.Name, activity.Failure(err), deliverTimeout)}, nil
	}
	return contract.DeliveryResult{State: out.State}, nil
}

// cancellationOf returns the cancellation of the task that a refusal was about. No workflow
// waits for that task any more, so it must not continue to work or ask.
func cancellationOf(in contract.DelegateInput) contract.DelegateInput {
	return contract.DelegateInput{
		ConversationID: in.ConversationID, SessionID: in.SessionID, Peer: in.Peer, Chain: in.Chain,
		MessageID: contract.NameUUID(in.MessageID, "cancel"), TaskID: in.TaskID, ContextID: in.ContextID, Cancel: true,
	}
}

// notifyPeer sends a refusal or a cancellation to the other agent, also when the turn was
// cancelled. It tries once, because callers wait for the turn, and leaves retries to a
// Delivery. The note says what people should know.
func (t *remoteTask) notifyPeer(ctx workflow.Context, in contract.DelegateInput) (note string) {
	ctx = run.Detached(ctx)
	out, err := t.send(ctx, in, refuseTimeout, 1)
	switch {
	case err == nil && !t.unfollowed && decide.ContinuesAfterRefusal(in, out) && cancelsEndedTasks(ctx):
		return t.notifyPeer(ctx, t.cancellation())
	case err == nil && out.State == contract.TaskAuthRequired:
		return wording.RemoteWantsLogin(t.call.Peer.Name)
	case err == nil:
		return ""
	}
	f := activity.Failure(err)
	if t.unfollowed || f.Kind.Permanent() {
		return wording.RemoteNotReached(t.call.Peer.Name, f)
	}
	in = t.withTask(in)
	if err := t.startDelivery(ctx, in).GetChildWorkflowExecution().Get(ctx, nil); err != nil {
		return wording.RemoteNotReached(t.call.Peer.Name, activity.Failure(err))
	}
	return wording.RemoteDeliveryStarted(t.call.Peer.Name, contract.DeliveryWorkflowID(in.MessageID))
}

func (t *remoteTask) startDelivery(ctx workflow.Context, in contract.DelegateInput) workflow.ChildWorkflowFuture {
	a := t.leaf.parent.origin()
	ctx = workflow.WithChildOptions(header.With(ctx, t.token()), workflow.ChildWorkflowOptions{
		WorkflowID:        contract.DeliveryWorkflowID(in.MessageID),
		ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_ABANDON,
		StaticSummary:     wording.DelegateSummary(in),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			attribute.AgentName.ValueSet(a.agent.Name),
			attribute.ConversationID.ValueSet(a.conversation),
			attribute.SessionID.ValueSet(a.session),
			attribute.ConfigHash.ValueSet(a.configHash),
		),
	})
	return workflow.ExecuteChildWorkflow(ctx, contract.WorkflowDelivery, in)
}
