package backend

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/title"
	"agent-stop-and-go/workflows/credential"
)

// memoFingerprint is the memo key of the fingerprint of the request that started a
// conversation.
const memoFingerprint = "create_fingerprint"

// Start implements Conversations. The workflow has no execution timeout.
func (t *Temporal) Start(ctx context.Context, in service.StartInput) (service.StartResult, error) {
	id := contract.ConversationWorkflowID(in.Conversation.ID)
	notified := false
	if in.Push != nil {
		in.Conversation.Notify = true
		var err error
		if notified, err = t.expectPush(ctx, in.Conversation, *in.Push); err != nil {
			return service.StartResult{}, err
		}
	}
	if first := in.Conversation.First; first != nil && (in.Keep != nil || len(first.Credential) > contract.InlineLimit) {
		if _, err := t.open(ctx, id); !isNotFound(err) { // a repeated request stores nothing again
			if err != nil {
				return service.StartResult{}, fault(err, "describe the conversation to start")
			}
			return t.startExisting(ctx, in, notified)
		}
		kept, err := t.storeFirst(ctx, in)
		if err != nil {
			return service.StartResult{}, err
		}
		in.Conversation.First = &kept
	}
	in, err := t.withProof(in)
	if err != nil {
		return service.StartResult{}, err
	}
	_, err = t.client.ExecuteWorkflow(ctx, t.startOptions(in), contract.WorkflowConversation, in.Conversation)
	var there *serviceerror.WorkflowExecutionAlreadyStarted
	if !errors.As(err, &there) {
		return service.StartResult{}, fault(err, "start a conversation")
	}
	return t.startExisting(ctx, in, notified)
}

// StartAndAwait implements Conversations with an update that is part of the start. Compared
// with a start and an update after it, that is one request and one workflow task less. A
// conversation with a webhook, or with values to store, is left to Start.
func (t *Temporal) StartAndAwait(ctx context.Context, in service.StartInput) (contract.AwaitResult, error) {
	var result contract.AwaitResult
	first := in.Conversation.First
	if in.Push != nil || in.Keep != nil || len(first.Credential) > contract.InlineLimit {
		return result, service.ErrAgain
	}
	in, err := t.withProof(in)
	if err != nil {
		return result, err
	}
	if t.board != nil {
		return t.startAndExpect(ctx, in)
	}
	o := client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: t.client.NewWithStartWorkflowOperation(t.startOptions(in), contract.WorkflowConversation, in.Conversation),
		UpdateOptions:          awaitOptions(in.Conversation.ID, []string{first.RequestID}),
	}
	handle, err := t.client.UpdateWithStartWorkflow(ctx, o)
	if err == nil {
		err = handle.Get(ctx, &result)
	}
	return result, err
}

// startAndExpect is StartAndAwait in the process of the worker: that gets the first workflow task with
// the reply to the start, and the outcome comes by the board.
func (t *Temporal) startAndExpect(ctx context.Context, in service.StartInput) (contract.AwaitResult, error) {
	request := in.Conversation.First.RequestID
	t.board.Expect(request)
	defer t.board.Forget(request)
	if _, err := t.client.ExecuteWorkflow(ctx, t.startOptions(in), contract.WorkflowConversation, in.Conversation); err != nil {
		return contract.AwaitResult{}, err
	}
	if result, ok := t.posted(ctx, in.Conversation.ID, []string{request}); ok {
		return result, nil
	}
	return contract.AwaitResult{}, service.ErrAgain
}

func (t *Temporal) startOptions(in service.StartInput) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: contract.ConversationWorkflowID(in.Conversation.ID), TaskQueue: t.taskQueue,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StaticSummary:                            t.agentName + " · conversation",
		Memo:                                     memoOf(in),
		TypedSearchAttributes:                    temporal.NewSearchAttributes(t.attributes(in.Conversation)...),
		EnableEagerStart:                         t.board != nil, // the worker is in this process
	}
}

// startExisting returns the conversation that was to be started and exists.
func (t *Temporal) startExisting(ctx context.Context, in service.StartInput, notified bool) (service.StartResult, error) {
	if in.Push != nil && !notified {
		if err := t.catchUp(ctx, in.Conversation.ID); err != nil {
			return service.StartResult{}, err
		}
	}
	return t.existing(ctx, contract.ConversationWorkflowID(in.Conversation.ID))
}

// storeFirst stores the values of a conversation's first message, and returns the message.
func (t *Temporal) storeFirst(ctx context.Context, in service.StartInput) (contract.MessageSignal, error) {
	if in.Keep != nil {
		if err := in.Keep(ctx); err != nil {
			return contract.MessageSignal{}, err
		}
	}
	return t.storeToken(ctx, *in.Conversation.First)
}

// storeToken stores a long token of a message and replaces it by its address.
func (t *Temporal) storeToken(ctx context.Context, m contract.MessageSignal) (contract.MessageSignal, error) {
	var err error
	m.Credential, err = credential.Keep(ctx, t.blobs, m.Credential)
	return m, err
}

func memoOf(in service.StartInput) map[string]any {
	memo := map[string]any{
		contract.MemoCreatedAt: in.CreatedAt.UTC().Format(time.RFC3339Nano), memoFingerprint: in.Fingerprint,
	}
	name := in.Title
	if first := in.Conversation.First; first != nil && name == "" {
		name = title.Of(*first)
	}
	if name != "" {
		memo[contract.MemoTitle] = name
	}
	return memo
}

func (t *Temporal) attributes(in contract.ConversationInput) []temporal.SearchAttributeUpdate {
	list := []temporal.SearchAttributeUpdate{
		attribute.AgentName.ValueSet(in.Agent.Name),
		attribute.ConversationID.ValueSet(in.ID),
		attribute.Status.ValueSet(string(contract.StatusActive)),
		attribute.SessionID.ValueSet(in.SessionID),
		attribute.ConfigHash.ValueSet(in.Agent.Hash()),
	}
	list = append(list, attribute.OfOwner(in.Owner)...)
	if in.Task {
		list = append(list, attribute.ContextID.ValueSet(in.ContextID), attribute.TaskState.ValueSet(string(contract.TaskWorking)))
	}
	return list
}

func (t *Temporal) existing(ctx context.Context, workflowID string) (service.StartResult, error) {
	d, err := t.client.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return service.StartResult{}, fault(err, "describe the conversation that exists")
	}
	memo := d.GetWorkflowExecutionInfo().GetMemo().GetFields()
	return service.StartResult{Existed: true, CreatedAt: when(memo[contract.MemoCreatedAt]), Fingerprint: text(memo[memoFingerprint])}, nil
}
