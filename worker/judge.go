package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/config"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/judgement"
	"agent-stop-and-go/workflows/contract/review"
)

// Times of looking for approvals that the rules of this worker have not judged: after the start; again, at
// decreasing frequency, as long as there are some, because a judging may fail; and now and then, because
// workers with other rules may open more.
const (
	judgeFirst = 2 * time.Second
	judgeRetry = time.Minute
	judgeEvery = time.Hour
)

// approvalsOf is the part of a Temporal client with which approvals are found and judged.
type approvalsOf interface {
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error)
}

// Judge has the approvals that wait judged by the rules of the configuration, each once, until stop is
// called. Without rules it does nothing.
func Judge(c client.Client, conf *config.Config, logger *slog.Logger) (stop func(context.Context) error) {
	p := conf.Policy()
	if p == nil {
		return func(context.Context) error { return nil }
	}
	end := background(context.Background(), func(ctx context.Context) {
		j := judging{client: c, queue: conf.Temporal.TaskQueue, policy: p.Version()}
		for wait, again := judgeFirst, judgeRetry; ; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			n, err := j.all(ctx)
			if wait, again = judgeEvery, min(2*again, judgeEvery); n > 0 || err != nil {
				wait = again / 2
			} else {
				again = judgeRetry
			}
			if n > 0 {
				logger.Info("calls that wait are judged by the rules of now", "policy", j.policy, "approvals", n)
			}
			if err != nil && ctx.Err() == nil {
				logger.Warn("calls that wait could not all be judged by the rules of now; it is tried again", "policy", j.policy, "error", err)
			}
		}
	})
	return func(context.Context) error { end(); return nil }
}

// maxFailed is after how many approvals that do not answer a worker tries again later.
const maxFailed = 3

type judging struct {
	client approvalsOf
	queue  string
	policy string
}

// all has every approval judged that does not know the rules yet, and counts them. What is under way when
// the worker ends goes on, or is found again.
func (j judging) all(ctx context.Context) (n int, err error) {
	query := fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND TaskQueue = '%s'", contract.WorkflowApproval, strings.ReplaceAll(j.queue, "'", "''"))
	var failed []error
	for token := []byte(nil); ; {
		r, err := j.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: 500, NextPageToken: token, Query: query})
		if err != nil {
			return n, fmt.Errorf("list the approvals: %w", err)
		}
		for _, e := range r.GetExecutions() {
			if j.knows(e.GetMemo()) {
				continue
			}
			if err := j.one(ctx, e.GetExecution().GetWorkflowId()); err != nil {
				if failed = append(failed, err); len(failed) == maxFailed {
					return n, errors.Join(failed...)
				}
				continue
			}
			n++
		}
		if token = r.GetNextPageToken(); len(token) == 0 {
			return n, errors.Join(failed...)
		}
	}
}

// knows reports whether an approval needs no judging: it was opened under these rules, they have judged it,
// or no rules are about it.
func (j judging) knows(m *commonpb.Memo) bool {
	var policy string
	var list judgement.List
	var card contract.Card
	read(m, judgement.MemoPolicy, &policy)
	read(m, judgement.Memo, &list)
	read(m, contract.MemoCard, &card)
	rate := card.Because == contract.GroundRule && card.Policy == ""
	return policy == j.policy || card.Policy == j.policy || list.Knows(j.policy) || card.Reason != contract.ReasonDestructive || rate
}

// read reads a value of a memo, if it is there and can be read.
func read(m *commonpb.Memo, key string, out any) {
	if p := m.GetFields()[key]; p != nil {
		_ = converter.GetDefaultDataConverter().FromPayload(p, out) // otherwise the Approval itself refuses what it knows
	}
}

// one asks an approval to have its call judged. It does not wait for that.
func (j judging) one(ctx context.Context, workflowID string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_, err := j.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: workflowID, UpdateName: review.UpdateJudge, Args: []any{review.Judge{Policy: j.policy}}, WaitForStage: client.WorkflowUpdateStageAccepted,
	})
	var ended *serviceerror.NotFound
	if errors.As(err, &ended) { // meanwhile
		return nil
	}
	return err
}
