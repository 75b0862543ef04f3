package floor

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/deploy/standalone/process"
	agent "agent-stop-and-go/worker"
)

// The kinds of floors differ in the calls that are local activities.
const (
	Activities = "activities"  // none
	ModelLocal = "model local" // those of the model
	AllLocal   = "all local"
)

// Kinds are all kinds.
var Kinds = []string{Activities, ModelLocal, AllLocal}

// floor serves turns.
type floor struct {
	localModel, localTool bool
	client                client.Client
	model                 string // base URL
}

const (
	queue = "floor"

	turnWorkflow = "FloorTurn"
	askModel     = "ask_model"
	useTool      = "use_tool"
	askedUpdate  = "asked"  // an update that waits until a decision is needed
	decideSignal = "decide" // a signal
)

// Serve serves a kind of floor until ctx ends. The environment has the directory for its data
// (DIR), its port (PORT) and the base URL of the model (MODEL_URL).
func Serve(ctx context.Context, kind string, getenv func(string) string) (err error) {
	defer process.LimitMemory(getenv)()
	agent.KeepInMemory(config.Default().Temporal.CacheSize)
	server, err := embedded.Start(ctx, embedded.Options{DataDir: getenv("DIR"), SearchAttributes: connect.SearchAttributes()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	c, err := client.DialContext(ctx, client.Options{
		HostPort: server.Address(), ConnectionOptions: client.ConnectionOptions{GrpcCompression: &client.GrpcCompressionNone{}},
	})
	if err != nil {
		return err
	}
	defer c.Close()
	f := &floor{localModel: kind != Activities, localTool: kind == AllLocal, client: c, model: getenv("MODEL_URL")}
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflowWithOptions(f.turn, workflow.RegisterOptions{Name: turnWorkflow})
	w.RegisterActivityWithOptions(f.ask, activity.RegisterOptions{Name: askModel})
	w.RegisterActivityWithOptions(func(context.Context) (string, error) { return "ok", nil }, activity.RegisterOptions{Name: useTool})
	if err := w.Start(); err != nil {
		return err
	}
	defer w.Stop()
	return f.listen(ctx, "127.0.0.1:"+getenv("PORT"))
}

// listen serves turns until ctx ends.
func (f *floor) listen(ctx context.Context, address string) error {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	for route, handle := range map[string]func(*http.Request) (string, error){
		"POST /turns": f.list, "POST /approvals/{id}": f.start, "POST /approvals/{id}/decision": f.decide,
	} {
		routes.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			state, err := handle(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprintf(w, `{"state":%q}`, state)
		})
	}
	s := &http.Server{Addr: address, Handler: routes}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (f *floor) list(r *http.Request) (string, error) {
	run, err := f.client.ExecuteWorkflow(r.Context(), client.StartWorkflowOptions{TaskQueue: queue}, turnWorkflow, false)
	if err != nil {
		return "", err
	}
	return "done", run.Get(r.Context(), nil)
}

func (f *floor) start(r *http.Request) (string, error) {
	start := f.client.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: r.PathValue("id"), TaskQueue: queue, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
	}, turnWorkflow, true)
	waiting, err := f.client.UpdateWithStartWorkflow(r.Context(), client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions:          client.UpdateWorkflowOptions{UpdateName: askedUpdate, WaitForStage: client.WorkflowUpdateStageCompleted},
	})
	if err != nil {
		return "", err
	}
	return "waiting", waiting.Get(r.Context(), nil)
}

func (f *floor) decide(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if err := f.client.SignalWorkflow(r.Context(), id, "", decideSignal, true); err != nil {
		return "", err
	}
	return "done", f.client.GetWorkflow(r.Context(), id, "").Get(r.Context(), nil)
}
