package worker

import (
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"agent-stop-and-go/workflows"
	"agent-stop-and-go/workflows/appender"
	"agent-stop-and-go/workflows/control"
	"agent-stop-and-go/workflows/grants"
	"agent-stop-and-go/workflows/hooks"
	"agent-stop-and-go/workflows/numbers"
	"agent-stop-and-go/workflows/rates"
)

// NewReplayer makes a replayer with all workflows of this program. o are the options of the client
// that a worker would have: its converters and propagators are needed to read histories.
func NewReplayer(o client.Options) (worker.WorkflowReplayer, error) {
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		DataConverter: o.DataConverter, FailureConverter: o.FailureConverter, ContextPropagators: o.ContextPropagators,
		Interceptors: interceptors(Place{}), DisableRegistrationAliasing: true,
		DisableDeadlockDetection: true, // on a busy machine a coroutine may not run for a second
	})
	if err != nil {
		return nil, err
	}
	workflows.Register(r)
	control.Register(r)
	rates.Register(r)
	grants.Register(r)
	hooks.Register(r)
	numbers.Register(r)
	appender.Register(r)
	return r, nil
}
