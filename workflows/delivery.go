package workflows

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

// Delivery tells another agent something about a task of its, again and again until
// it hears of it: that a request was rejected, or that nobody waits for the task any
// more. It outlives the conversation. It fails only when it is cancelled.
func Delivery(ctx workflow.Context, in contract.DelegateInput) (contract.DeliveryResult, error) {
	out, err := run(ctx, contract.ActivityDelegate, deliver(decide.DelegateSummary(in)), in)
	switch {
	case ctx.Err() != nil:
		return contract.DeliveryResult{}, ctx.Err()
	case err != nil:
		return contract.DeliveryResult{Problem: decide.NeverTold(in.Peer.Name, failure(err), deliverTimeout)}, nil
	}
	return contract.DeliveryResult{State: out.State}, nil
}

// tell makes sure that the other agent hears a refusal or the end of its task, also
// when the turn was cancelled. It tries for a moment, because somebody waits for the
// turn, and leaves the rest to a Delivery. The note says what people should know.
func (t *remoteTask) tell(ctx workflow.Context, in contract.DelegateInput) (note string) {
	ctx = detached(ctx)
	_, err := t.send(ctx, in, refuseTimeout, 1)
	if err == nil {
		return ""
	}
	f := failure(err)
	if t.early || f.Kind.Permanent() {
		return decide.RemoteNotTold(t.call.Peer.Name, f)
	}
	in = t.addressed(in)
	if err := t.startDelivery(ctx, in).GetChildWorkflowExecution().Get(ctx, nil); err != nil {
		return decide.RemoteNotTold(t.call.Peer.Name, failure(err))
	}
	return decide.RemoteToldLater(t.call.Peer.Name, contract.DeliveryWorkflowID(in.MessageID))
}

func (t *remoteTask) startDelivery(ctx workflow.Context, in contract.DelegateInput) workflow.ChildWorkflowFuture {
	a := t.about()
	ctx = workflow.WithChildOptions(withCredential(ctx, t.credential), workflow.ChildWorkflowOptions{
		WorkflowID:        contract.DeliveryWorkflowID(in.MessageID),
		ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_ABANDON,
		StaticSummary:     decide.DelegateSummary(in),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			attrAgentName.ValueSet(a.agent.Name),
			attrConversationID.ValueSet(a.conversation),
			attrSessionID.ValueSet(a.session),
			attrConfigHash.ValueSet(a.configHash),
		),
	})
	return workflow.ExecuteChildWorkflow(ctx, contract.WorkflowDelivery, in)
}
