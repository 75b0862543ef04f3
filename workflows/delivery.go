package workflows

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// Delivery tells another agent something about a task of its, again and again until
// it hears of it: that a request was rejected, or that nobody waits for the task any
// more. It outlives the conversation. It fails only when it is cancelled.
func Delivery(ctx workflow.Context, in contract.DelegateInput) (contract.DeliveryResult, error) {
	out, err := run(ctx, contract.ActivityDelegate, deliver(wording.DelegateSummary(in)), in)
	switch {
	case ctx.Err() != nil:
		return contract.DeliveryResult{}, ctx.Err()
	case err == nil && decide.GoesOn(in, out) && endsTasks(ctx):
		return Delivery(ctx, cancelling(in))
	case err == nil && out.State == contract.TaskAuthRequired:
		return contract.DeliveryResult{State: out.State, Problem: wording.RemoteWantsLogin(in.Peer.Name)}, nil
	case err != nil:
		return contract.DeliveryResult{Problem: wording.NeverTold(in.Peer.Name, failure(err), deliverTimeout)}, nil
	}
	return contract.DeliveryResult{State: out.State}, nil
}

// cancelling ends the task that a refusal was about. Nobody waits for it any more, and it
// must not be at work unseen, nor ask what nobody hears.
func cancelling(in contract.DelegateInput) contract.DelegateInput {
	return contract.DelegateInput{
		ConversationID: in.ConversationID, SessionID: in.SessionID, Peer: in.Peer, Chain: in.Chain,
		MessageID: contract.NameUUID(in.MessageID, "cancel"), TaskID: in.TaskID, ContextID: in.ContextID, Cancel: true,
	}
}

// tell makes sure that the other agent hears a refusal or the end of its task, also
// when the turn was cancelled. It tries for a moment, because somebody waits for the
// turn, and leaves the rest to a Delivery. The note says what people should know.
func (t *remoteTask) tell(ctx workflow.Context, in contract.DelegateInput) (note string) {
	ctx = detached(ctx)
	out, err := t.send(ctx, in, refuseTimeout, 1)
	switch {
	case err == nil && !t.early && decide.GoesOn(in, out) && endsTasks(ctx):
		return t.tell(ctx, t.cancellation())
	case err == nil && out.State == contract.TaskAuthRequired:
		return wording.RemoteWantsLogin(t.call.Peer.Name)
	case err == nil:
		return ""
	}
	f := failure(err)
	if t.early || f.Kind.Permanent() {
		return wording.RemoteNotTold(t.call.Peer.Name, f)
	}
	in = t.addressed(in)
	if err := t.startDelivery(ctx, in).GetChildWorkflowExecution().Get(ctx, nil); err != nil {
		return wording.RemoteNotTold(t.call.Peer.Name, failure(err))
	}
	return wording.RemoteToldLater(t.call.Peer.Name, contract.DeliveryWorkflowID(in.MessageID))
}

func (t *remoteTask) startDelivery(ctx workflow.Context, in contract.DelegateInput) workflow.ChildWorkflowFuture {
	a := t.about()
	ctx = workflow.WithChildOptions(withCredential(ctx, t.token()), workflow.ChildWorkflowOptions{
		WorkflowID:        contract.DeliveryWorkflowID(in.MessageID),
		ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_ABANDON,
		StaticSummary:     wording.DelegateSummary(in),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			attrAgentName.ValueSet(a.agent.Name),
			attrConversationID.ValueSet(a.conversation),
			attrSessionID.ValueSet(a.session),
			attrConfigHash.ValueSet(a.configHash),
		),
	})
	return workflow.ExecuteChildWorkflow(ctx, contract.WorkflowDelivery, in)
}
