package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/deploy/standalone/executions"
	"agent-stop-and-go/workflows/contract"
)

// Server is the part of client.Client that is used here.
type Server interface {
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	GetWorkflowHistory(ctx context.Context, workflowID, runID string, isLongPoll bool, filter enumspb.HistoryEventFilterType) client.HistoryEventIterator
	ResetWorkflowExecution(ctx context.Context, r *workflowservice.ResetWorkflowExecutionRequest) (*workflowservice.ResetWorkflowExecutionResponse, error)
}

// Problem is why a workflow is a case.
type Problem string

// The problems.
const (
	TaskFails Problem = "task_fails" // its task fails, and is tried again
	RunFailed Problem = "run_failed" // its run has ended with a failure
)

// Case is a workflow that cannot go on.
type Case struct {
	WorkflowID string  `json:"workflow_id"`
	RunID      string  `json:"run_id"`
	Type       string  `json:"type"`
	Problem    Problem `json:"problem"`
	// Cause is the failure, and Attempts how often its task has failed.
	Cause    string `json:"cause,omitempty"`
	Attempts int32  `json:"attempts,omitempty"`
	// Event is the workflow task that a reset goes back to, and At its time. Everything after it is
	// done again. Zero if there is none.
	Event int64     `json:"event,omitempty"`
	At    time.Time `json:"at,omitzero"`
	// Calls are the destructive calls after it, and those that were running then. They are why no
	// reset is offered.
	Calls []Call `json:"calls,omitempty"`
	// Asks lists the tools whose approvals were opened after it: they ask again.
	Asks []string `json:"asks,omitempty"`
	// Blocked is why no reset is offered; "" offers one.
	Blocked string `json:"blocked,omitempty"`
	// NewRun is the run that a reset has started.
	NewRun string `json:"new_run,omitempty"`
	// Failure is why a reset was refused by the server.
	Failure string `json:"failure,omitempty"`
}

// Call is a destructive call or delegation.
type Call struct {
	WorkflowID string    `json:"workflow_id"`
	Event      int64     `json:"event"`
	Tool       string    `json:"tool"`
	Server     string    `json:"server,omitempty"`
	At         time.Time `json:"at"`
	// Ran is set if its answer is known; it may have run otherwise, too.
	Ran bool `json:"ran"`
}

// Finder finds cases.
type Finder struct {
	Server    Server
	Namespace string
	TaskQueue string
	// Event is the workflow task to go back to, instead of the last completed one.
	Event int64
}

// types are the workflows that are looked at.
var types = []string{contract.WorkflowConversation, contract.WorkflowSequential, contract.WorkflowParallel, contract.WorkflowLoop, contract.WorkflowApproval}

// Find returns all cases. After an error, those found before are returned too.
func (f Finder) Find(ctx context.Context) (cases []Case, err error) {
	for _, q := range []struct {
		query   string
		problem Problem
	}{
		{"TemporalReportedProblems IS NOT NULL AND ExecutionStatus = 'Running'", TaskFails},
		{fmt.Sprintf("ExecutionStatus = 'Failed' AND TaskQueue = '%s'", strings.ReplaceAll(f.TaskQueue, "'", `\'`)), RunFailed},
	} {
		for info, err := range executions.List(ctx, f.Server, f.Namespace, q.query) {
			if err != nil {
				return cases, err
			}
			if info.GetTaskQueue() != f.TaskQueue || !slices.Contains(types, info.GetType().GetName()) {
				continue
			}
			c, found, err := f.Examine(ctx, info.GetExecution().GetWorkflowId())
			var gone *serviceerror.NotFound
			if errors.As(err, &gone) {
				continue // it was deleted since it was listed
			}
			if err != nil {
				return cases, err
			}
			if found && c.Problem == q.problem && c.RunID == info.GetExecution().GetRunId() {
				cases = append(cases, c)
			}
		}
	}
	return cases, nil
}

// Examine looks at the last run of a workflow. It returns false if that is not a case.
func (f Finder) Examine(ctx context.Context, workflowID string) (c Case, found bool, err error) {
	d, err := f.Server.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return c, false, fmt.Errorf("describe %s: %w", workflowID, err)
	}
	info, task := d.GetWorkflowExecutionInfo(), d.GetPendingWorkflowTask()
	c = Case{WorkflowID: workflowID, RunID: info.GetExecution().GetRunId(), Type: info.GetType().GetName()}
	switch {
	case info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_FAILED:
		c.Problem = RunFailed
	case info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING && task.GetAttempt() > 1:
		c.Problem, c.Attempts = TaskFails, task.GetAttempt()-1
	default:
		return c, false, nil
	}
	if err := f.read(ctx, &c); err != nil {
		return c, true, err
	}
	c.Blocked = blocked(c)
	return c, true, nil
}

// blocked says why a reset is not offered, or "".
func blocked(c Case) string {
	switch {
	case c.Blocked != "":
		return c.Blocked
	case c.Event == 0:
		return "no workflow task was completed before: there is nothing to go back to"
	case len(c.Calls) > 0:
		return "destructive calls lie after the point or were running then, and would be forgotten"
	case c.Problem == RunFailed && c.Type != contract.WorkflowConversation:
		return "the workflow that had started it has gone on"
	case c.Type == contract.WorkflowApproval:
		return "an approval is not reset: cancel it, and its call is asked about again with the next message"
	}
	return ""
}

func execution(c Case) *commonpb.WorkflowExecution {
	return &commonpb.WorkflowExecution{WorkflowId: c.WorkflowID, RunId: c.RunID}
}
