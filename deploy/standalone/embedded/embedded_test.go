package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/deploy/standalone/embedded"
)

const childDir = "EMBEDDED_TEST_CHILD_DIR"

// TestMain also is the process that TestKilledProcessLosesNothing kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := child(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child starts a server and a workflow, says so, and waits to be killed.
func child(dir string) error {
	ctx := context.Background()
	srv, err := embedded.Start(ctx, embedded.Options{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	c, err := client.DialContext(ctx, client.Options{HostPort: srv.Address(), Logger: quiet})
	if err != nil {
		return err
	}
	if err := run(ctx, c, "before-the-kill"); err != nil {
		return err
	}
	fmt.Println("started")
	_, err = bufio.NewReader(os.Stdin).ReadString('\n') // until killed, or until the parent is gone
	return err
}

var quiet = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))

// start returns a server on o, stopped when the test ends. Warnings of the server fail nothing but are shown.
func start(t *testing.T, o embedded.Options) *embedded.Server {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	began := time.Now()
	srv, err := embedded.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %v", time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() { stop(t, srv) })
	return srv
}

func stop(t *testing.T, srv *embedded.Server) {
	t.Helper()
	began := time.Now()
	if err := srv.Stop(); err != nil {
		t.Error(err)
	}
	t.Logf("stopped after %v", time.Since(began).Round(time.Millisecond))
}

func dial(t *testing.T, srv *embedded.Server) client.Client {
	t.Helper()
	return dialNamespace(t, srv, "default")
}

func dialNamespace(t *testing.T, srv *embedded.Server, namespace string) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: srv.Address(), Namespace: namespace, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// run starts a workflow that no worker takes up, so that it stays open.
func run(ctx context.Context, c client.Client, id string, attributes ...temporal.SearchAttributeUpdate) error {
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: "nobody", TypedSearchAttributes: temporal.NewSearchAttributes(attributes...),
	}, "Waiting")
	return err
}

// eventually polls until cond holds. The deadline passes only when something is
// broken.
func eventually(t *testing.T, what string, cond func() (bool, error)) {
	t.Helper()
	deadline := time.NewTimer(2 * time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := cond()
		if ok {
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("never happened: %s (last error: %v)", what, err)
		case <-tick.C:
		}
	}
}
