package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/credential"
)

// SetPush implements Pushes. The first webhook starts the workflow.
func (t *temporalBackend) SetPush(ctx context.Context, conversationID string, c PushConfig) (PushConfig, error) {
	c, sealed, err := t.sealedPush(conversationID, c)
	if err != nil {
		return PushConfig{}, err
	}
	attributes, err := t.pushAttributes(ctx, conversationID)
	if err != nil {
		return PushConfig{}, err
	}
	if err := t.roomFor(ctx, conversationID, c.ID); err != nil {
		return PushConfig{}, err
	}
	if err := t.startPush(ctx, contract.PushInput{ConversationID: conversationID}, sealed, attributes); err != nil {
		return PushConfig{}, err
	}
	return c, t.catchUp(ctx, conversationID)
}

// catchUp has the webhooks told the present state. A conversation that has ended, maybe
// while its webhook was set, tells nothing any more: its last state is told for it.
func (t *temporalBackend) catchUp(ctx context.Context, conversationID string) error {
	id := contract.ConversationWorkflowID(conversationID)
	err := t.client.SignalWorkflow(ctx, id, "", contract.SignalFollow, nil)
	if !isNotFound(err) {
		return fault(err, "follow the conversation")
	}
	var v contract.ConversationView
	if _, err := t.query(ctx, id, contract.QueryConversation, &v, contract.ConversationQuery{}); err != nil {
		return fault(err, "query the conversation that is over")
	}
	if !v.TaskState().Over() { // it was terminated
		return nil
	}
	news := contract.PushNews{State: v.TaskState(), Version: v.Version, ContextID: v.ContextID, At: v.UpdatedAt}
	err = t.client.SignalWorkflow(ctx, contract.PushWorkflowID(conversationID), "", contract.SignalTask, news)
	return fault(err, "tell of the task's last state")
}

// expectPush sets the webhook of a conversation that is about to start, so that it is
// told even of the shortest one.
func (t *temporalBackend) expectPush(ctx context.Context, in contract.ConversationInput, c PushConfig) error {
	_, sealed, err := t.sealedPush(in.ID, c)
	if err != nil {
		return err
	}
	attributes := temporal.NewSearchAttributes(
		attrAgentName.ValueSet(in.Agent.Name), attrConversationID.ValueSet(in.ID), attrSessionID.ValueSet(in.SessionID))
	return t.startPush(ctx, contract.PushInput{ConversationID: in.ID, Coming: true}, sealed, attributes)
}

// sealedPush completes and checks a webhook.
func (t *temporalBackend) sealedPush(conversationID string, c PushConfig) (PushConfig, contract.PushConfig, error) {
	c.Protocol = cmp.Or(c.Protocol, contract.PushProtocol1)
	c.ID = cmp.Or(c.ID, newPushID(conversationID, c))
	if err := c.check(t.pushReach); err != nil {
		return c, contract.PushConfig{}, err
	}
	sealed, err := t.seal(conversationID, c)
	return c, sealed, err
}

func (t *temporalBackend) startPush(ctx context.Context, in contract.PushInput, c contract.PushConfig, attributes temporal.SearchAttributes) error {
	id := contract.PushWorkflowID(in.ConversationID)
	_, err := t.client.SignalWithStartWorkflow(ctx, id, contract.SignalSet, c, client.StartWorkflowOptions{
		ID: id, TaskQueue: t.taskQueue,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:         t.agentName + " · push notifications",
		TypedSearchAttributes: attributes,
	}, contract.WorkflowPush, in)
	return fault(err, "set a push notification")
}

// newPushID is the ID of a webhook that came without one: the same when it comes again.
// Version 0.3 has one such webhook a task: another one takes its place.
func newPushID(conversationID string, c PushConfig) string {
	if c.Protocol == contract.PushProtocol03 {
		return conversationID
	}
	return contract.NameUUID(conversationID, strings.Join([]string{"push", c.URL, c.Token, c.Scheme, c.Credentials}, "\n"))
}

// pushAttributes are the search attributes of the workflow: those of the conversation,
// which must be there.
func (t *temporalBackend) pushAttributes(ctx context.Context, conversationID string) (temporal.SearchAttributes, error) {
	d, err := t.client.DescribeWorkflowExecution(ctx, contract.ConversationWorkflowID(conversationID), "")
	if isNotFound(err) {
		return temporal.SearchAttributes{}, noConversation(conversationID)
	}
	if err != nil {
		return temporal.SearchAttributes{}, fault(err, "describe the conversation")
	}
	fields := d.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()
	return temporal.NewSearchAttributes(
		attrAgentName.ValueSet(cmp.Or(text(fields[contract.AttrAgentName]), t.agentName)),
		attrConversationID.ValueSet(conversationID),
		attrSessionID.ValueSet(text(fields[contract.AttrSessionID])),
	), nil
}

// roomFor fails when a webhook would be one too many. Of two that are set at the same
// time the workflow may still ignore the second.
func (t *temporalBackend) roomFor(ctx context.Context, conversationID, id string) error {
	set, err := t.sealedConfigs(ctx, conversationID)
	if err != nil && !isNotFound(err) {
		return fault(err, "query push notifications")
	}
	there := slices.ContainsFunc(set, func(c contract.PushConfig) bool { return c.ID == id })
	if !there && len(set) >= contract.MaxPushConfigs {
		return Errorf(contract.KindInvalid, "push notification: a task notifies at most %d webhooks", contract.MaxPushConfigs)
	}
	return nil
}

// sealedConfigs are those of the workflow, none when it has ended.
func (t *temporalBackend) sealedConfigs(ctx context.Context, conversationID string) ([]contract.PushConfig, error) {
	var view contract.PushView
	open, err := t.query(ctx, contract.PushWorkflowID(conversationID), contract.QueryPushConfigs, &view)
	if !open {
		return nil, err
	}
	return view.Configs, err
}

// PushConfigs implements Pushes.
func (t *temporalBackend) PushConfigs(ctx context.Context, conversationID string) ([]PushConfig, error) {
	sealed, err := t.sealedConfigs(ctx, conversationID)
	if isNotFound(err) {
		return nil, t.exists(ctx, conversationID)
	}
	if err != nil {
		return nil, fault(err, "query push notifications")
	}
	var out []PushConfig
	for _, c := range sealed {
		out = append(out, PushConfig(c).shown())
	}
	return out, nil
}

// DeletePush implements Pushes.
func (t *temporalBackend) DeletePush(ctx context.Context, conversationID, id string) error {
	err := t.client.SignalWorkflow(ctx, contract.PushWorkflowID(conversationID), "", contract.SignalDelete, contract.PushDelete{ID: id})
	if isNotFound(err) {
		return t.exists(ctx, conversationID)
	}
	return fault(err, "delete a push notification")
}

// exists fails when there is no such conversation.
func (t *temporalBackend) exists(ctx context.Context, conversationID string) error {
	_, err := t.open(ctx, contract.ConversationWorkflowID(conversationID))
	if isNotFound(err) {
		return noConversation(conversationID)
	}
	return fault(err, "describe the conversation")
}

// seal makes what may be read in history of a webhook.
func (t *temporalBackend) seal(conversationID string, c PushConfig) (contract.PushConfig, error) {
	out := contract.PushConfig(c)
	for _, secret := range []*string{&out.Token, &out.Credentials} {
		if *secret == "" {
			continue
		}
		if t.keyring == nil {
			return contract.PushConfig{}, Errorf(KindUnavailable, "push notification: there are no keys here to seal a token with")
		}
		var err error // the expiry of a token is for the webhook to judge
		if *secret, err = t.keyring.Seal(contract.PushSeal(conversationID, c.URL), credential.Token{Bearer: *secret}); err != nil {
			return contract.PushConfig{}, fmt.Errorf("seal a push notification's token: %w", err)
		}
	}
	return out, nil
}
