package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/promptversion"
	"agent-stop-and-go/workflows/record/transcript"
)

const (
	catalogueTimeout    = 10 * time.Second // for callers
	catalogueRunTimeout = 30 * time.Second // for the workflow, so that none stays forever
)

// Catalogue implements Worker.
func (t *Temporal) Catalogue(ctx context.Context) (c contract.Catalogue, err error) {
	ctx, cancel := context.WithTimeout(ctx, catalogueTimeout)
	defer cancel()
	probe, err := t.probe.Put(ctx)
	if err != nil {
		return c, service.Errorf(service.KindUnavailable, "the blob store cannot be written").Because(err)
	}
	result, err := t.ask(ctx, contract.ListToolsInput{Probe: &probe})
	if err != nil {
		return c, err
	}
	if err := t.sameStore(ctx, probe, result.Store); err != nil {
		return c, err
	}
	if err = t.readCatalogue(ctx, result, &c); err == nil && result.Store == nil {
		c.Notes = append(c.Notes, "it is not known whether the worker shares the blob store: it is of an older version")
	}
	return c, err
}

// Resources implements Worker.
func (t *Temporal) Resources(ctx context.Context) (c contract.ResourceCatalogue, err error) {
	if err = t.list(ctx, contract.ListToolsInput{Kind: contract.WantResources}, &c); err == nil && c.Resources == nil {
		err = tooOld(contract.WantResources)
	}
	return c, err
}

// Prompts implements Worker.
func (t *Temporal) Prompts(ctx context.Context) (c contract.PromptCatalogue, err error) {
	if err = t.list(ctx, contract.ListToolsInput{Kind: contract.WantPrompts}, &c); err == nil && c.Prompts == nil {
		err = tooOld(contract.WantPrompts)
	}
	return c, err
}

// SystemPrompt has a worker read the prompt of a tool server. Those who ask at the same moment share a reading.
func (t *Temporal) SystemPrompt(ctx context.Context, server string) (r promptversion.Reading, err error) {
	if err = t.list(ctx, contract.ListToolsInput{Kind: contract.WantSystemPrompt, Server: server}, &r); err == nil && r.Prompt == nil && r.Problem == "" {
		err = tooOld(contract.WantSystemPrompt)
	}
	return r, err
}

// tooOld returns the error for a worker that always lists its tools, whatever it is asked
// for.
func tooOld(want contract.CatalogueKind) error {
	return service.Errorf(service.KindUnavailable, "no worker answers that lists %s: those that run are of an older version", want)
}

func (t *Temporal) list(ctx context.Context, in contract.ListToolsInput, out any) error {
	ctx, cancel := context.WithTimeout(ctx, catalogueTimeout)
	defer cancel()
	result, err := t.ask(ctx, in)
	if err != nil {
		return err
	}
	return t.readCatalogue(ctx, result, out)
}

// ask has a worker list something. Gateways that ask at the same time share a run.
func (t *Temporal) ask(ctx context.Context, in contract.ListToolsInput) (result contract.CatalogueResult, err error) {
	what := cmp.Or(string(in.Kind), "tools")
	run, err := t.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: t.catalogueID(in.Kind), TaskQueue: t.taskQueue, WorkflowRunTimeout: catalogueRunTimeout,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            t.agentName + " · " + what,
	}, contract.WorkflowCatalogue, in)
	if err != nil {
		return result, fault(err, "start the listing of "+what)
	}
	if err := run.Get(ctx, &result); err != nil {
		return result, t.catalogueFault(err, what)
	}
	return result, nil
}

func (t *Temporal) readCatalogue(ctx context.Context, r contract.CatalogueResult, out any) error {
	raw, err := transcript.ReadJSON(ctx, t.blobs, r.Body)
	if err != nil {
		return fmt.Errorf("read the catalogue: %w", err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("decode the catalogue: %w", err)
	}
	return nil
}

// catalogueID returns the workflow ID of a listing. It distinguishes agents, kinds and task
// queues.
func (t *Temporal) catalogueID(want contract.CatalogueKind) string {
	id := contract.CatalogueWorkflowID(t.agentHash, want)
	if t.taskQueue != contract.DefaultTaskQueue {
		id += "-" + t.taskQueue
	}
	return id
}

func (t *Temporal) catalogueFault(err error, what string) error {
	var failed *temporal.WorkflowExecutionError
	var timedOut *temporal.TimeoutError
	switch {
	case errors.Is(err, context.DeadlineExceeded), isType[*serviceerror.DeadlineExceeded](err), errors.As(err, &timedOut):
		return service.Errorf(service.KindUnavailable, "no worker is answering on task queue %s", t.taskQueue).Because(err)
	case errors.As(err, &failed):
		return service.Errorf(service.KindUnavailable, "the worker could not list its %s", what).Because(err)
	}
	return fault(err, "list the "+what)
}

// pollTime is longer than a poll of a worker. A worker that still runs has polled again
// within it.
const pollTime = 70 * time.Second

// Attended implements Worker.
func (t *Temporal) Attended(ctx context.Context) (bool, error) {
	d, err := t.client.DescribeTaskQueue(ctx, t.taskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return false, fault(err, "ask who polls")
	}
	for _, p := range d.GetPollers() {
		if t.now().Sub(p.GetLastAccessTime().AsTime()) < pollTime && !t.isDead(p.GetIdentity()) {
			return true, nil
		}
	}
	return false, nil
}
