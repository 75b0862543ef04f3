package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/deletion"
	"agent-stop-and-go/activities/reset"
	giving "agent-stop-and-go/activities/standing"
	"agent-stop-and-go/activities/webhook"
	"agent-stop-and-go/worker/calls"
	"agent-stop-and-go/workflows"
	"agent-stop-and-go/workflows/appender"
	"agent-stop-and-go/workflows/board"
	"agent-stop-and-go/workflows/console"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	names "agent-stop-and-go/workflows/contract/deletion"
	wire "agent-stop-and-go/workflows/contract/hooks"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/standing"
	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/contract/ticket"
	"agent-stop-and-go/workflows/control"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/grants"
	"agent-stop-and-go/workflows/hooks"
	"agent-stop-and-go/workflows/numbers"
	"agent-stop-and-go/workflows/proof"
	"agent-stop-and-go/workflows/rates"
	"agent-stop-and-go/workflows/telemetry"
)

// Activities are the structs whose methods are the activities.
type Activities struct {
	Models *activities.Models
	Tools  *activities.Tools
	Peers  *activities.Peers
	Texts  *activities.Texts
	Files  *activities.Files

	Notifications *activities.Notifications
	Resets        *reset.Activities
	Deletions     *deletion.Deletions
	Webhooks      *webhook.Hooks
	Grants        *giving.Book
	// Audit is nil without an audit log.
	Audit *Audit
}

// stopTimeout is how long a stopping worker waits for running activities: longer than a tool
// call may take, so that no destructive call loses its answer.
const stopTimeout = 40 * time.Second

// joinsTimeout is how long a stopping worker waits for activities that join its calls.
const joinsTimeout = 5 * time.Second

// Place is the task queue that a worker polls, and what its workflows know of the installation.
type Place struct {
	TaskQueue string
	// Address is the Temporal server's, for the commands that are shown to people. Empty means
	// the CLI's default.
	Address string
	// Keyring has the keys of the gateway. Without it no identity is proven.
	Keyring *credential.Keyring
	// Calls are the calls of this process; nil is a table of the worker's own.
	Calls *calls.Table
	// Board passes outcomes to a gateway in this process; nil without one.
	Board *board.Board
	// Pollers is how many requests for workflow tasks wait at a time, at least 2; zero is the SDK's
	// default of 2.
	Pollers int
	// Deployment and BuildID make the worker a version of a worker deployment; without them it is
	// unversioned.
	Deployment, BuildID string
}

// Worker polls the task queue of its place, that of the calls which it has started, and those of
// the Control and the Audit.
type Worker struct {
	worker.Worker
	joins worker.Worker
	// control runs the Control of the namespace, which all its workers share.
	control worker.Worker
	// audit runs the Audit of the namespace; nil without one.
	audit worker.Worker
	calls *calls.Table
}

// New makes a worker. The caller starts it. fatal is called at most once, if the worker cannot
// continue, for example because its namespace is gone.
func New(c client.Client, p Place, a Activities, fatal func(error)) *Worker {
	table := cmp.Or(p.Calls, calls.New(p.TaskQueue+"-"+rand.Text(), nil))
	if a.Tools != nil && a.Tools.Claims != nil && a.Audit == nil { // the log of an audit refers to activities
		table.ClaimsCalls()
	}
	var once sync.Once
	o := worker.Options{
		Interceptors:                interceptors(p),
		OnFatalError:                func(err error) { once.Do(func() { fatal(err) }) },
		WorkerStopTimeout:           stopTimeout,
		DisableRegistrationAliasing: true,

		MaxConcurrentWorkflowTaskPollers: p.Pollers,
	}
	o.DeploymentOptions = versioning(p)
	w := &Worker{Worker: worker.New(c, p.TaskQueue, o), calls: table}
	o.DeploymentOptions = worker.DeploymentOptions{} // calls are joined in the process that made them
	workflows.Register(w)
	rates.Register(w)
	grants.Register(w)
	hooks.Register(w)
	numbers.Register(w)
	Register(w, a, table)
	// Attempts that follow a failed call run there too, so there is room for more than calls.
	o.DisableWorkflowWorker, o.MaxConcurrentActivityExecutionSize = true, 2*calls.Max
	w.joins = worker.New(c, table.Queue(), o)
	Register(w.joins, a, table)
	w.control = worker.New(c, switches.TaskQueue, worker.Options{
		Interceptors: o.Interceptors, OnFatalError: o.OnFatalError, LocalActivityWorkerOnly: true, DisableRegistrationAliasing: true,
	})
	control.Register(w.control)
	if a.Audit != nil {
		w.audit = worker.New(c, audit.TaskQueue, worker.Options{
			Interceptors: o.Interceptors, OnFatalError: o.OnFatalError, LocalActivityWorkerOnly: a.Audit.appender.Witnesses.Len() == 0, DisableRegistrationAliasing: true,
		})
		appender.Register(w.audit)
		bind(w.audit, audit.ActivityAppend, a.Audit.appender.Append)
		bind(w.audit, audit.ActivityCosign, a.Audit.appender.Cosign)
	}
	return w
}

// versioning makes a worker a version of a deployment. All workflows go on with the version that has
// their share of the work, also while they wait: a turn may wait for a person for months, and no
// version could be removed until the last of them was over. Every version replays what others began,
// which its recorded histories test, and agent replay tests with those of an installation.
func versioning(p Place) worker.DeploymentOptions {
	if p.Deployment == "" {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{
		UseVersioning: true, Version: worker.WorkerDeploymentVersion{DeploymentName: p.Deployment, BuildID: p.BuildID},
		DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	}
}

// interceptors are those of all workers and replayers.
func interceptors(p Place) []interceptor.WorkerInterceptor {
	return []interceptor.WorkerInterceptor{console.Show(p.Address), proof.With(p.Keyring), board.With(p.Board), calls.Heartbeats(), telemetry.Messages()}
}

// Start starts polling.
func (w *Worker) Start() error {
	if err := w.joins.Start(); err != nil {
		return err
	}
	if err := w.control.Start(); err != nil {
		w.joins.Stop()
		return err
	}
	started := []worker.Worker{w.joins, w.control}
	for _, next := range []worker.Worker{w.audit, w.Worker} {
		if next == nil {
			continue
		}
		if err := next.Start(); err != nil {
			for _, s := range started {
				s.Stop()
			}
			return err
		}
		started = append(started, next)
	}
	return nil
}

// Stop waits for running calls. Those that local activities wait for are handed over, which
// needs the workflow worker, and then joined.
func (w *Worker) Stop() {
	w.calls.Close()
	w.Worker.Stop()
	w.control.Stop()
	if w.audit != nil {
		w.audit.Stop()
	}
	w.calls.AwaitJoins(joinsTimeout)
	w.joins.Stop()
}

// Registry is what activities are registered with.
type Registry interface {
	RegisterActivityWithOptions(a any, o activity.RegisterOptions)
}

// Register binds the activities to their names.
func Register(r Registry, a Activities, t *calls.Table) {
	bindCall(r, t, contract.ActivityGenerate, a.Models.Generate)
	bindCall(r, t, contract.ActivitySummarize, a.Models.Summarize)
	bindCall(r, t, contract.ActivityCallTool, a.Tools.CallTool)
	bind(r, review.Activity, a.Models.Review)
	bind(r, standing.Give, a.Grants.Give)
	bind(r, audit.ActivityRecord, a.Audit.recorder().Record)
	bind(r, contract.ActivityListTools, a.Tools.ListTools)
	bind(r, contract.ActivityDelegate, a.Peers.Delegate)
	bind(r, contract.ActivityCompose, a.Texts.Compose)
	bind(r, contract.ActivityOffload, a.Texts.Offload)
	bind(r, contract.ActivityReadAnswer, a.Texts.ReadAnswer)
	bind(r, contract.ActivityWithdraw, a.Resets.Withdraw)
	bind(r, contract.ActivityExport, a.Files.Export)
	bind(r, contract.ActivityNotify, a.Notifications.Notify)
	bind(r, wire.ActivitySelect, a.Webhooks.Select)
	bind(r, wire.ActivitySend, a.Webhooks.Send)
	bind(r, names.ActivityEnd, a.Deletions.End)
	bind(r, names.ActivityBury, a.Deletions.Bury)
	bind(r, names.ActivityErase, a.Deletions.Erase)
	bind(r, names.ActivityExpire, a.Deletions.Expire)
	bind(r, names.ActivityMark, a.Deletions.Mark)
	bind(r, names.ActivityCollect, a.Deletions.Collect)
}

// bind does not compile unless the method has the signature that workflows call.
func bind[In, Out any](r Registry, a contract.Activity[In, Out], method func(context.Context, In) (Out, error)) {
	register(r, a, counted(a, method))
}

// bindCall binds an activity whose call may be handed over, and the local activity that starts it.
func bindCall[In, Out any](r Registry, t *calls.Table, a contract.Activity[In, Out], method func(context.Context, In) (Out, error)) {
	method = counted(a, method)
	register(r, a, calls.Join(t, method))
	register(r, ticket.StartOf(a), calls.Start(t, method))
}

func register[In, Out any](r Registry, a contract.Activity[In, Out], method func(context.Context, In) (Out, error)) {
	r.RegisterActivityWithOptions(method, activity.RegisterOptions{Name: a.Name})
}
