// Package numbers asks Temporal for the numbers that a caller's conversations have, which the workflow
// Numbers keeps. Every gateway gets the same ones.
package numbers

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/backend"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/number"
)

// Numbers gives numbers to conversations. It is safe for concurrent use.
type Numbers struct {
	Client    client.Client
	TaskQueue string
}

// timeout limits how long a worker may take to answer. A list goes without numbers then.
const timeout = 3 * time.Second

// id is the ID of the workflow of a caller. Without authentication all callers are one.
func (n Numbers) id(c service.Caller) string {
	return number.WorkflowID(n.TaskQueue, contract.Hash([]byte(c.Own("")))[:16])
}

// Of returns the numbers of conversations by their IDs, which are given in the order in which they get
// new ones. Nothing is written if all have one.
func (n Numbers) Of(ctx context.Context, c service.Caller, ids []string) (map[string]int, error) {
	out := map[string]int{}
	if len(ids) == 0 {
		return out, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	state, err := n.all(ctx, c)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, id := range ids {
		if out[id] = state.Of(id); out[id] == 0 {
			missing = append(missing, id)
		}
	}
	for len(missing) > 0 {
		some := missing[:min(len(missing), number.MaxGive)]
		missing = missing[len(some):]
		given, err := n.give(ctx, c, some)
		if err != nil {
			return nil, err
		}
		for _, g := range given.Numbers {
			out[g.ID] = g.N
		}
	}
	return out, nil
}

// Find returns the conversation that has a number, or "".
func (n Numbers) Find(ctx context.Context, c service.Caller, number int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	state, err := n.all(ctx, c)
	return state.ID(number), err
}

// all returns the numbers of a caller; of one that has never asked for any there are none.
func (n Numbers) all(ctx context.Context, c service.Caller) (s number.State, err error) {
	v, err := n.Client.QueryWorkflow(ctx, n.id(c), "", number.QueryAll)
	if missing := new(serviceerror.NotFound); errors.As(err, &missing) {
		return s, nil
	}
	if err == nil {
		err = v.Get(&s)
	}
	return s, backend.Fault(err, "read the numbers of conversations")
}

func (n Numbers) give(ctx context.Context, c service.Caller, ids []string) (g number.Given, err error) {
	start := n.Client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: n.id(c), TaskQueue: n.TaskQueue, StaticSummary: "the numbers of conversations",
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, number.Workflow, number.Input{})
	handle, err := n.Client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: n.id(c), UpdateName: number.UpdateGive, Args: []any{number.Give{IDs: ids}}, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = handle.Get(ctx, &g)
	}
	return g, backend.Fault(err, "give numbers to conversations")
}
