package worker

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/workflows"
	"agent-stop-and-go/workflows/contract"
)

// Activities are the structs whose methods are the activities.
type Activities struct {
	Models *activities.Models
	Tools  *activities.Tools
	Peers  *activities.Peers
	Texts  *activities.Texts
	Files  *activities.Files

	Notifications *activities.Notifications
	Resets        *activities.Resets
}

// stopTimeout is how long a stopping worker waits for running activities: longer than a tool
// call may take, so that no destructive call loses its answer.
const stopTimeout = 40 * time.Second

// Place is the task queue that a worker polls.
type Place struct {
	TaskQueue string
	// Address is the Temporal server's, for the commands that are shown to people. Empty means
	// the CLI's default.
	Address string
}

// New makes a worker. The caller starts it. fatal is called at most once, if the worker cannot
// continue, for example because its namespace is gone.
func New(c client.Client, p Place, a Activities, fatal func(error)) worker.Worker {
	w := worker.New(c, p.TaskQueue, worker.Options{
		Interceptors:                []interceptor.WorkerInterceptor{workflows.ShowConsole(p.Address)},
		OnFatalError:                fatal,
		WorkerStopTimeout:           stopTimeout,
		DisableRegistrationAliasing: true,
	})
	workflows.Register(w)
	Register(w, a)
	return w
}

// Registry is what activities are registered with.
type Registry interface {
	RegisterActivityWithOptions(a any, o activity.RegisterOptions)
}

// Register binds the activities to their names.
func Register(r Registry, a Activities) {
	bind(r, contract.ActivityGenerate, a.Models.Generate)
	bind(r, contract.ActivitySummarize, a.Models.Summarize)
	bind(r, contract.ActivityCallTool, a.Tools.CallTool)
	bind(r, contract.ActivityListTools, a.Tools.ListTools)
	bind(r, contract.ActivityDelegate, a.Peers.Delegate)
	bind(r, contract.ActivityCompose, a.Texts.Compose)
	bind(r, contract.ActivityOffload, a.Texts.Offload)
	bind(r, contract.ActivityReadAnswer, a.Texts.ReadAnswer)
	bind(r, contract.ActivityWithdraw, a.Resets.Withdraw)
	bind(r, contract.ActivityExport, a.Files.Export)
	bind(r, contract.ActivityNotify, a.Notifications.Notify)
}

// bind does not compile unless the method has the signature that workflows call.
func bind[In, Out any](r Registry, a contract.Activity[In, Out], method func(context.Context, In) (Out, error)) {
	r.RegisterActivityWithOptions(method, activity.RegisterOptions{Name: a.Name})
}
