package embedded_test

import (
	"context"
	"slices"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	commandpb "go.temporal.io/api/command/v1"
	deploymentpb "go.temporal.io/api/deployment/v1"

	"agent-stop-and-go/deploy/standalone/embedded"
)

const builds = "BuildIds"

func buildsOf(t *testing.T, a *commonpb.SearchAttributes) (ids []string) {
	t.Helper()
	if p := a.GetIndexedFields()[builds]; p != nil {
		if err := converter.GetDefaultDataConverter().FromPayload(p, &ids); err != nil {
			t.Fatal(err)
		}
	}
	return ids
}

// The server adds nothing to what a workflow has from the start, because it is what it would add.
func TestAWorkflowHasItsBuildFromTheStart(t *testing.T) {
	srv := start(t, embedded.Options{DataDir: t.TempDir(), Namespace: "default"})
	plain := dial(t, srv)
	told, err := client.Dial(client.Options{HostPort: srv.Address(), ConnectionOptions: client.ConnectionOptions{
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(embedded.TellBuild())},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	w := worker.New(told, "builds", worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, child string) error {
		if child == "" {
			return nil
		}
		ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: child})
		return workflow.ExecuteChildWorkflow(ctx, "W", "").Get(ctx, nil)
	}, workflow.RegisterOptions{Name: "W"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	run := func(c client.Client, id, child string) {
		r, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "builds"}, "W", child)
		if err == nil {
			err = r.Get(t.Context(), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run(plain, "plain", "")
	run(told, "told", "child")
	after := func(id string) []string {
		d, err := plain.DescribeWorkflowExecution(t.Context(), id, "")
		if err != nil {
			t.Fatal(err)
		}
		return buildsOf(t, d.GetWorkflowExecutionInfo().GetSearchAttributes())
	}
	want := after("plain")
	if len(want) != 2 {
		t.Fatalf("the server names the build %q", want)
	}
	for _, id := range []string{"told", "child"} {
		first, err := plain.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
		if err != nil {
			t.Fatal(err)
		}
		begun := buildsOf(t, first.GetWorkflowExecutionStartedEventAttributes().GetSearchAttributes())
		if !slices.Equal(begun, want) || !slices.Equal(after(id), want) {
			t.Errorf("%s begins with the build %q and ends with %q, want %q", id, begun, after(id), want)
		}
	}
}

// pollOf is a poll of a worker of the build b.
func pollOf(versions bool, deployment string) *workflowservice.PollWorkflowTaskQueueRequest {
	return &workflowservice.PollWorkflowTaskQueueRequest{
		//lint:ignore SA1019 a worker without versions tells its build nowhere else
		WorkerVersionCapabilities: &commonpb.WorkerVersionCapabilities{BuildId: "b", UseVersioning: versions},
		DeploymentOptions:         &deploymentpb.WorkerDeploymentOptions{DeploymentName: deployment},
	}
}

// sends returns what is sent of a request over a connection whose worker has polled.
func sends(t *testing.T, poll *workflowservice.PollWorkflowTaskQueueRequest, req proto.Message) proto.Message {
	t.Helper()
	var sent any
	tell := embedded.TellBuild()
	for _, r := range []any{poll, req} {
		err := tell(t.Context(), "/m", r, nil, nil, func(_ context.Context, _ string, req, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			sent = req
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return sent.(proto.Message)
}

func TestABuildIsToldOnlyOfAWorkerWithoutVersions(t *testing.T) {
	for name, tt := range map[string]struct {
		poll *workflowservice.PollWorkflowTaskQueueRequest
		want []string
	}{
		"without versions": {pollOf(false, ""), []string{"unversioned", "unversioned:b"}},
		"with versions":    {pollOf(true, ""), nil},
		"of a deployment":  {pollOf(false, "d"), nil},
		"unknown":          {&workflowservice.PollWorkflowTaskQueueRequest{}, nil},
	} {
		sent := sends(t, tt.poll, &workflowservice.StartWorkflowExecutionRequest{}).(*workflowservice.StartWorkflowExecutionRequest)
		if got := buildsOf(t, sent.GetSearchAttributes()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: started with %q", name, got)
		}
	}
}

func TestWhatAWorkflowIsStartedWithStays(t *testing.T) {
	given := &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{"ToolName": {Data: []byte(`"x"`)}}}
	own := &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{builds: {Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte(`["own"]`)}}}
	child := func(a *commonpb.SearchAttributes) *commandpb.Command {
		return &commandpb.Command{Attributes: &commandpb.Command_StartChildWorkflowExecutionCommandAttributes{
			StartChildWorkflowExecutionCommandAttributes: &commandpb.StartChildWorkflowExecutionCommandAttributes{SearchAttributes: a},
		}}
	}
	sent := sends(t, pollOf(false, ""),
		&workflowservice.RespondWorkflowTaskCompletedRequest{Commands: []*commandpb.Command{child(given), child(own), {}}}).(*workflowservice.RespondWorkflowTaskCompletedRequest)
	first := sent.GetCommands()[0].GetStartChildWorkflowExecutionCommandAttributes().GetSearchAttributes()
	if got := buildsOf(t, first); len(got) != 2 || len(first.GetIndexedFields()) != 2 || len(given.GetIndexedFields()) != 1 {
		t.Errorf("sent %v, of %v", first, given)
	}
	if got := buildsOf(t, sent.GetCommands()[1].GetStartChildWorkflowExecutionCommandAttributes().GetSearchAttributes()); !slices.Equal(got, []string{"own"}) {
		t.Errorf("what was given became %q", got)
	}
}
