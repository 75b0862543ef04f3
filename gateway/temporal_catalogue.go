package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/transcript"
)

const (
	catalogueTimeout    = 10 * time.Second // for callers
	catalogueRunTimeout = 30 * time.Second // for the workflow, so that none piles up
)

// Catalogue implements Worker. Gateways that ask at the same time share a run.
func (t *temporalBackend) Catalogue(ctx context.Context) (contract.Catalogue, error) {
	ctx, cancel := context.WithTimeout(ctx, catalogueTimeout)
	defer cancel()
	run, err := t.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: t.catalogueID(), TaskQueue: t.taskQueue, WorkflowRunTimeout: catalogueRunTimeout,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            t.agentName + " · tools",
	}, contract.WorkflowCatalogue, contract.ListToolsInput{})
	if err != nil {
		return contract.Catalogue{}, fault(err, "start the listing of tools")
	}
	var result contract.CatalogueResult
	if err := run.Get(ctx, &result); err != nil {
		return contract.Catalogue{}, t.catalogueFault(err)
	}
	return t.readCatalogue(ctx, result)
}

func (t *temporalBackend) readCatalogue(ctx context.Context, r contract.CatalogueResult) (contract.Catalogue, error) {
	var c contract.Catalogue
	raw, err := transcript.ReadJSON(ctx, t.blobs, r.Body)
	if err != nil {
		return c, fmt.Errorf("read the catalogue: %w", err)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("decode the catalogue: %w", err)
	}
	return c, nil
}

// catalogueID tells apart what is listed by different workers.
func (t *temporalBackend) catalogueID() string {
	id := contract.CatalogueWorkflowID(t.agentHash)
	if t.taskQueue != contract.DefaultTaskQueue {
		id += "-" + t.taskQueue
	}
	return id
}

func (t *temporalBackend) catalogueFault(err error) error {
	var failed *temporal.WorkflowExecutionError
	var timedOut *temporal.TimeoutError
	switch {
	case errors.Is(err, context.DeadlineExceeded), isType[*serviceerror.DeadlineExceeded](err), errors.As(err, &timedOut):
		return Errorf(KindUnavailable, "no worker is answering on task queue %s", t.taskQueue).because(err)
	case errors.As(err, &failed):
		return Errorf(KindUnavailable, "the worker could not list its tools").because(err)
	}
	return fault(err, "list the tools")
}
