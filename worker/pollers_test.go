package worker_test

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"agent-stop-and-go/worker"
)

// idle is a Temporal server without tasks. It counts the requests for workflow tasks that wait.
type idle struct {
	workflowservice.UnimplementedWorkflowServiceServer
	polls chan struct{} // one for each request that has come
}

func (idle) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (idle) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{}, nil
}

func (s idle) PollWorkflowTaskQueue(ctx context.Context, r *workflowservice.PollWorkflowTaskQueueRequest) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	if q := r.GetTaskQueue(); q.GetName() == "q" || q.GetNormalName() == "q" { // not the queue of the switches
		s.polls <- struct{}{}
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (idle) PollActivityTaskQueue(ctx context.Context, _ *workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAsManyRequestsForWorkflowTasksWaitAsAPlaceSays(t *testing.T) {
	for _, c := range []struct{ pollers, want int }{{0, 2}, {8, 8}} {
		polls := make(chan struct{}, 100)
		stop := startIdle(t, polls, c.pollers)
		late := time.After(10 * time.Second)
		for n := range c.want {
			select {
			case <-polls:
			case <-late:
				t.Fatalf("%d pollers: %d requests for workflow tasks wait, want %d", c.pollers, n, c.want)
			}
		}
		stop()
		if n := len(polls); n > 0 {
			t.Errorf("%d pollers: %d more requests than %d", c.pollers, n, c.want)
		}
	}
}

// startIdle runs a worker of a server without tasks.
func startIdle(t *testing.T, polls chan struct{}, pollers int) (stop func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(s, idle{polls: polls})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	sdk, err := client.Dial(client.Options{HostPort: l.Addr().String(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w := worker.New(sdk, worker.Place{TaskQueue: "q", Pollers: pollers}, worker.Activities{}, func(err error) { t.Error(err) })
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		w.Stop()
		sdk.Close()
		s.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}
