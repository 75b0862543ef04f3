package backend

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// SetPush implements Pushes. The first webhook starts the workflow. A webhook that is already
// set sends no signal, and neither does a workflow that has the task's state: signals write
// history, also of a conversation that waits.
func (t *Temporal) SetPush(ctx context.Context, conversationID string, c service.PushConfig) (service.PushConfig, error) {
	c, sealed, err := t.sealedPush(conversationID, c)
	if err != nil {
		return service.PushConfig{}, err
	}
	attributes, err := t.pushAttributes(ctx, conversationID)
	if err != nil {
		return service.PushConfig{}, err
	}
	p, err := t.readPush(ctx, conversationID)
	if err != nil {
		return service.PushConfig{}, err
	}
	if !t.isSet(conversationID, c, p) {
		if err := roomFor(c.ID, p); err != nil {
			return service.PushConfig{}, err
		}
		if err := t.startPush(ctx, contract.PushInput{ConversationID: conversationID}, sealed, attributes); err != nil {
			return service.PushConfig{}, err
		}
	}
	if p.State != "" {
		return c, nil
	}
	return c, t.catchUp(ctx, conversationID)
}

// catchUp has the current state sent to the webhooks. A conversation that has ended, possibly
// while its webhook was set, sends nothing more: its last state is signalled here.
func (t *Temporal) catchUp(ctx context.Context, conversationID string) error {
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
	last := contract.PushState{State: v.TaskState(), Version: v.Version, ContextID: v.ContextID, At: v.UpdatedAt}
	err = t.client.SignalWorkflow(ctx, contract.PushWorkflowID(conversationID), "", contract.SignalTask, last)
	return fault(err, "tell of the task's last state")
}

// expectPush sets the webhook of a conversation that is about to start, so that it is
// notified even if the conversation ends at once. It reports whether the webhook was set
// before and has the conversation's state.
func (t *Temporal) expectPush(ctx context.Context, in contract.ConversationInput, c service.PushConfig) (notified bool, err error) {
	c, sealed, err := t.sealedPush(in.ID, c)
	if err != nil {
		return false, err
	}
	p, err := t.readPush(ctx, in.ID)
	if err != nil || t.isSet(in.ID, c, p) {
		return p.State != "", err
	}
	if err := roomFor(c.ID, p); err != nil {
		return false, err
	}
	attributes := temporal.NewSearchAttributes(
		attribute.AgentName.ValueSet(in.Agent.Name), attribute.ConversationID.ValueSet(in.ID), attribute.SessionID.ValueSet(in.SessionID))
	return false, t.startPush(ctx, contract.PushInput{ConversationID: in.ID, Coming: true}, sealed, attributes)
}

// sealedPush completes, checks and seals a webhook.
func (t *Temporal) sealedPush(conversationID string, c service.PushConfig) (service.PushConfig, contract.PushConfig, error) {
	c.Protocol = cmp.Or(c.Protocol, contract.PushProtocol1)
	c.ID = cmp.Or(c.ID, newPushID(conversationID, c))
	if err := c.Check(t.pushReach); err != nil {
		return c, contract.PushConfig{}, err
	}
	sealed, err := t.seal(conversationID, c)
	return c, sealed, err
}

func (t *Temporal) startPush(ctx context.Context, in contract.PushInput, c contract.PushConfig, attributes temporal.SearchAttributes) error {
	id := contract.PushWorkflowID(in.ConversationID)
	_, err := t.client.SignalWithStartWorkflow(ctx, id, contract.SignalSet, c, client.StartWorkflowOptions{
		ID: id, TaskQueue: t.taskQueue,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		StaticSummary:         t.agentName + " · push notifications",
		TypedSearchAttributes: attributes,
	}, contract.WorkflowPush, in)
	return fault(err, "set a push notification")
}

// newPushID returns the ID of a webhook without one. It depends on the URL only, so the
// webhook replaces an earlier one with another token, and contains nothing secret, because
// everyone who knows the task can read it. In version 0.3 a task has only one webhook without
// an ID.
func newPushID(conversationID string, c service.PushConfig) string {
	if c.Protocol == contract.PushProtocol03 {
		return conversationID
	}
	return contract.NameUUID(conversationID, "push\n"+c.URL)
}

// pushAttributes returns the search attributes for the workflow: those of the conversation,
// which must exist.
func (t *Temporal) pushAttributes(ctx context.Context, conversationID string) (temporal.SearchAttributes, error) {
	d, err := t.client.DescribeWorkflowExecution(ctx, contract.ConversationWorkflowID(conversationID), "")
	if isNotFound(err) {
		return temporal.SearchAttributes{}, service.NoConversation(conversationID)
	}
	if err != nil {
		return temporal.SearchAttributes{}, fault(err, "describe the conversation")
	}
	fields := d.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()
	return temporal.NewSearchAttributes(
		attribute.AgentName.ValueSet(cmp.Or(text(fields[contract.AttrAgentName]), t.agentName)),
		attribute.ConversationID.ValueSet(conversationID),
		attribute.SessionID.ValueSet(text(fields[contract.AttrSessionID])),
	), nil
}

// isSet reports whether the same webhook is set.
func (t *Temporal) isSet(conversationID string, c service.PushConfig, p contract.PushView) bool {
	i := slices.IndexFunc(p.Configs, func(there contract.PushConfig) bool { return there.ID == c.ID })
	if i < 0 {
		return false
	}
	there, err := t.unseal(conversationID, p.Configs[i]) // one that cannot be read is replaced
	return err == nil && there == c
}

// roomFor fails if there are too many webhooks, or the workflow is busy. If two are set at
// the same time the workflow may still ignore the second.
func roomFor(id string, p contract.PushView) error {
	there := slices.ContainsFunc(p.Configs, func(c contract.PushConfig) bool { return c.ID == id })
	if !there && len(p.Configs) >= contract.MaxPushConfigs {
		return service.Errorf(contract.KindInvalid, "push notification: a task notifies at most %d webhooks", contract.MaxPushConfigs)
	}
	return mayChange(p)
}

// mayChange fails while the workflow must not get further signals.
func mayChange(p contract.PushView) error {
	if p.Long {
		return service.Errorf(contract.KindBusy, "push notification: the webhooks of the task change too often; try again in a moment")
	}
	return nil
}

// readPush reads the workflow of webhooks. Without a running one the result is empty.
func (t *Temporal) readPush(ctx context.Context, conversationID string) (contract.PushView, error) {
	view, err := t.pushView(ctx, conversationID)
	if err != nil && !isNotFound(err) {
		return contract.PushView{}, fault(err, "query push notifications")
	}
	return view, nil
}

// pushView is readPush, but fails if there is no workflow.
func (t *Temporal) pushView(ctx context.Context, conversationID string) (contract.PushView, error) {
	var view contract.PushView
	open, err := t.query(ctx, contract.PushWorkflowID(conversationID), contract.QueryPushConfigs, &view)
	if !open || err != nil {
		return contract.PushView{}, err
	}
	return view, nil
}

// PushConfigs implements Pushes.
func (t *Temporal) PushConfigs(ctx context.Context, conversationID string) ([]service.PushConfig, error) {
	set, err := t.pushView(ctx, conversationID)
	if isNotFound(err) {
		return nil, t.exists(ctx, conversationID)
	}
	if err != nil {
		return nil, fault(err, "query push notifications")
	}
	var out []service.PushConfig
	for _, c := range set.Configs {
		out = append(out, service.PushConfig(c).Redacted())
	}
	return out, nil
}

// DeletePush implements Pushes. Deleting an unknown webhook sends no signal.
func (t *Temporal) DeletePush(ctx context.Context, conversationID, id string) error {
	set, err := t.pushView(ctx, conversationID)
	switch {
	case isNotFound(err):
		return t.exists(ctx, conversationID)
	case err != nil:
		return fault(err, "query push notifications")
	case !slices.ContainsFunc(set.Configs, func(c contract.PushConfig) bool { return c.ID == id }):
		return nil
	}
	if err := mayChange(set); err != nil {
		return err
	}
	err = t.client.SignalWorkflow(ctx, contract.PushWorkflowID(conversationID), "", contract.SignalDelete, contract.PushDelete{ID: id})
	if isNotFound(err) {
		return t.exists(ctx, conversationID)
	}
	return fault(err, "delete a push notification")
}

// exists fails if there is no such conversation.
func (t *Temporal) exists(ctx context.Context, conversationID string) error {
	_, err := t.open(ctx, contract.ConversationWorkflowID(conversationID))
	if isNotFound(err) {
		return service.NoConversation(conversationID)
	}
	return fault(err, "describe the conversation")
}

// seal returns a webhook with its secrets sealed, as it may stand in history.
func (t *Temporal) seal(conversationID string, c service.PushConfig) (contract.PushConfig, error) {
	out := contract.PushConfig(c)
	for _, secret := range []*string{&out.Token, &out.Credentials} {
		if *secret == "" {
			continue
		}
		if t.keyring == nil {
			return contract.PushConfig{}, service.Errorf(service.KindUnavailable, "push notification: there are no keys here to seal a token with")
		}
		var err error // without an expiry: the receiver judges that
		if *secret, err = t.keyring.Seal(contract.PushSeal(conversationID, c.URL), credential.Token{Bearer: *secret}); err != nil {
			return contract.PushConfig{}, fmt.Errorf("seal a push notification's token: %w", err)
		}
	}
	return out, nil
}

func (t *Temporal) unseal(conversationID string, c contract.PushConfig) (service.PushConfig, error) {
	out := service.PushConfig(c)
	for _, secret := range []*string{&out.Token, &out.Credentials} {
		if *secret == "" {
			continue
		}
		if t.keyring == nil {
			return service.PushConfig{}, service.Errorf(service.KindUnavailable, "push notification: there are no keys here to open a token with")
		}
		token, err := t.keyring.Open(contract.PushSeal(conversationID, c.URL), *secret, t.now())
		if err != nil {
			return service.PushConfig{}, fmt.Errorf("push notification %s: its token %w", service.Printable(c.ID), err)
		}
		*secret = token.Bearer
	}
	return out, nil
}
