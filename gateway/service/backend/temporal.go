package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/backend/asked"
	"agent-stop-and-go/gateway/service/backend/snapshot"
	"agent-stop-and-go/workflows/board"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/console"
	"agent-stop-and-go/workflows/contract/network"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

// temporalClient is the part of client.Client that is used here.
type temporalClient interface {
	ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error)
	NewWithStartWorkflowOperation(o client.StartWorkflowOptions, workflow any, args ...any) client.WithStartWorkflowOperation
	UpdateWithStartWorkflow(ctx context.Context, o client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error)
	GetWorkflow(ctx context.Context, workflowID, runID string) client.WorkflowRun
	SignalWorkflow(ctx context.Context, workflowID, runID, signal string, arg any) error
	SignalWithStartWorkflow(ctx context.Context, workflowID, signal string, arg any, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error)
	UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error)
	QueryWorkflowWithOptions(ctx context.Context, r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error)
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	GetWorkflowHistory(ctx context.Context, workflowID, runID string, isLongPoll bool, filter enumspb.HistoryEventFilterType) client.HistoryEventIterator
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	CountWorkflow(ctx context.Context, r *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error)
	DescribeTaskQueue(ctx context.Context, queue string, kind enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error)
	CheckHealth(ctx context.Context, r *client.CheckHealthRequest) (*client.CheckHealthResponse, error)
}

// Temporal implements service.Backend with a Temporal client. It is safe for concurrent use.
type Temporal struct {
	client    temporalClient
	namespace string
	console   console.Server // for commands shown to people
	taskQueue string
	agentHash string
	agentName string
	blobs     transcript.Store
	probe     *transcript.Probe

	keyring   *credential.Keyring
	pushReach network.Reach
	now       func() time.Time
	isDead    func(identity string) bool
	views     *snapshot.Views
	board     *board.Board
	asked     *asked.Approvals
}

// Options are the dependencies and settings of a Temporal.
type Options struct {
	// Client, TaskQueue and Namespace say where conversations run. The queue is
	// contract.DefaultTaskQueue by default.
	Client    client.Client
	TaskQueue string
	Namespace string
	// Address is the address of the Temporal server in commands shown to people.
	Address string
	// Agent is the agent of new conversations.
	Agent contract.Agent
	Blobs transcript.Store
	// Keyring seals tokens and proves identities. Without it tokens are dropped, workflows refuse
	// what has an identity, and webhooks cannot have secrets.
	Keyring *credential.Keyring
	// PushReach limits the addresses of webhooks.
	PushReach network.Reach
	// Now is time.Now by default.
	Now func() time.Time
	// IsDead reports whether the worker with an identity is known to have ended; the Temporal
	// server does not notice that at once. It may be nil.
	IsDead func(identity string) bool
	// Views keep conversations that do not change. Without them a worker is asked each time.
	Views *snapshot.Views
	// Board has outcomes of requests, in a process whose worker is the only one.
	Board *board.Board
	// Asked are approvals that the worker of the process has asked for. It may be nil.
	Asked *asked.Approvals
}

// New makes a Temporal. It starts no goroutines.
func New(o Options) *Temporal {
	o.TaskQueue = cmp.Or(o.TaskQueue, contract.DefaultTaskQueue)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.IsDead == nil {
		o.IsDead = func(string) bool { return false }
	}
	return &Temporal{
		client: o.Client, namespace: o.Namespace, console: console.Server{Address: o.Address, Namespace: o.Namespace}, taskQueue: o.TaskQueue,
		agentHash: o.Agent.Hash(), agentName: o.Agent.Name, blobs: o.Blobs,
		probe:   transcript.NewProbe(o.Blobs, o.Now),
		keyring: o.Keyring, pushReach: o.PushReach, now: o.Now, isDead: o.IsDead, views: o.Views, board: o.Board, asked: o.Asked,
	}
}

// Signal implements Conversations.
func (t *Temporal) Signal(ctx context.Context, conversationID, signal string, payload any) error {
	id := contract.ConversationWorkflowID(conversationID)
	if m, ok := payload.(contract.MessageSignal); ok {
		var err error
		if payload, err = t.storeToken(ctx, m); err != nil {
			return err
		}
	}
	payload, err := t.proven(id, signal, payload)
	if err != nil {
		return err
	}
	err = t.client.SignalWorkflow(ctx, id, "", signal, payload)
	if !isNotFound(err) {
		return fault(err, "signal "+signal)
	}
	open, err := t.open(ctx, id)
	switch {
	case isNotFound(err):
		return service.NoConversation(conversationID)
	case err != nil:
		return fault(err, "describe the conversation")
	case open: // it was continuing as a new run
		return fault(t.client.SignalWorkflow(ctx, id, "", signal, payload), "signal "+signal+" again")
	}
	return service.Errorf(contract.KindCompleted, "conversation %s is completed", conversationID)
}

func (t *Temporal) open(ctx context.Context, workflowID string) (bool, error) {
	d, err := t.client.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return false, err
	}
	return isOpen(d.GetWorkflowExecutionInfo().GetStatus()), nil
}

// isOpen reports whether a workflow runs. A run that continued as new is followed by another.
func isOpen(s enumspb.WorkflowExecutionStatus) bool {
	return s == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING || s == enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW
}

// Ping implements Worker.
func (t *Temporal) Ping(ctx context.Context) error {
	_, err := t.client.CheckHealth(ctx, &client.CheckHealthRequest{})
	return fault(err, "check Temporal's health")
}

// query queries a workflow; if that has ended, its last run.
func (t *Temporal) query(ctx context.Context, workflowID, name string, out any, args ...any) (open bool, err error) {
	if open, err = t.queryOpen(ctx, workflowID, name, out, args...); open || err != nil {
		return open, err
	}
	response, err := t.client.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: workflowID, QueryType: name, Args: args, QueryRejectCondition: enumspb.QUERY_REJECT_CONDITION_NONE,
	})
	if err != nil {
		return false, queryError(ctx, err)
	}
	return false, response.QueryResult.Get(out)
}

// queryOpen queries a workflow unless it has ended. If the run continues as new during the
// query, the next run is queried.
func (t *Temporal) queryOpen(ctx context.Context, workflowID, name string, out any, args ...any) (open bool, err error) {
	response, err := t.client.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: workflowID, QueryType: name, Args: args, QueryRejectCondition: enumspb.QUERY_REJECT_CONDITION_NOT_OPEN,
	})
	switch {
	case err != nil:
		return false, queryError(ctx, err)
	case response.QueryRejected.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
		return t.queryOpen(ctx, workflowID, name, out, args...)
	case response.QueryRejected != nil:
		return false, nil
	}
	return true, response.QueryResult.Get(out)
}

// queryError returns the error of a query. A call that the server cancelled, as it does when
// it is busy, is distinguished from one whose caller disconnected.
func queryError(ctx context.Context, err error) error {
	if isType[*serviceerror.Canceled](err) && ctx.Err() == nil {
		return service.Errorf(service.KindUnavailable, unavailableText).Because(err)
	}
	return err
}

const (
	unavailableText = "the workflow service is not available"
	silentText      = "no answer in time from the workflow service or its workers"
	// databaseFull is part of the error of a server on SQLite whose disk is full.
	databaseFull = "database or disk is full"
)

// Fault classifies errors of the SDK, for packages beside this one. Unknown errors stay internal.
func Fault(err error, doing string) error { return fault(err, doing) }

// fault is Fault.
func fault(err error, doing string) error {
	if err == nil {
		return nil
	}
	var known *service.Error
	if errors.As(err, &known) {
		return err
	}
	wrapped := fmt.Errorf("%s: %w", doing, err)
	switch {
	case strings.Contains(err.Error(), databaseFull):
		return service.NoSpace(wrapped)
	case isType[*serviceerror.Unavailable](err), isType[*serviceerror.ResourceExhausted](err),
		isType[*serviceerror.WorkflowNotReady](err), isType[*serviceerror.NamespaceNotFound](err):
		return service.Errorf(service.KindUnavailable, unavailableText).Because(wrapped)
	case isType[*serviceerror.DeadlineExceeded](err), isType[*serviceerror.FailedPrecondition](err),
		errors.Is(err, context.DeadlineExceeded):
		return service.Errorf(service.KindUnavailable, silentText).Because(wrapped)
	case errors.Is(err, context.Canceled), isType[*serviceerror.Canceled](err):
		return service.Errorf(service.KindGone, "the client went away").Because(wrapped)
	}
	return wrapped
}

func isType[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func isNotFound(err error) bool { return isType[*serviceerror.NotFound](err) }

// text decodes a string from a memo or a search attribute, or returns "".
func text(p *commonpb.Payload) string {
	var s string
	if p == nil || converter.GetDefaultDataConverter().FromPayload(p, &s) != nil {
		return ""
	}
	return s
}

func when(p *commonpb.Payload) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text(p))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
