package activities_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

const (
	conversationID = "3f1f7a52-6c1e-4a7e-9d55-0a4f8d2b1c01"
	canary         = "canary-bearer-0123456789"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

var errStore = errors.New("the store is away")

// memory is a transcript.Store.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	putErr error
}

func newMemory() *memory { return &memory{values: map[string][]byte{}} }

func (m *memory) Put(_ context.Context, data []byte) (contract.Blob, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.putErr != nil {
		return contract.Blob{}, m.putErr
	}
	b := contract.NewBlob(data)
	m.values[b.SHA256] = bytes.Clone(data)
	return b, nil
}

func (m *memory) Get(_ context.Context, b contract.Blob) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.values[b.SHA256]
	if !ok {
		return nil, fmt.Errorf("%w: no blob %s", errStore, b.SHA256)
	}
	return data, nil
}

type fakeModel struct {
	GenerateFn func(context.Context, llm.Request) (llm.Reply, error)
}

func (f fakeModel) Generate(ctx context.Context, r llm.Request) (llm.Reply, error) {
	return f.GenerateFn(ctx, r)
}

// replies returns a model that always returns the same.
func replies(r llm.Reply, err error) fakeModel {
	return fakeModel{func(context.Context, llm.Request) (llm.Reply, error) { return r, err }}
}

type fakeOffer struct {
	tools   []toolbox.Tool
	CheckFn func(tool string, args json.RawMessage) (json.RawMessage, string)
}

func (f fakeOffer) Tools(context.Context) []toolbox.Tool { return f.tools }

func (f fakeOffer) Check(_ context.Context, tool string, args json.RawMessage) (json.RawMessage, string) {
	if f.CheckFn == nil {
		return args, ""
	}
	return f.CheckFn(tool, args)
}

type fakeCaller struct {
	CallFn func(context.Context, toolbox.Call) (toolbox.Result, error)
	tools  []toolbox.Tool
	states []contract.ServerState

	conflicts, challenges []string

	ResourcesFn func() ([]toolbox.Resource, error)
	PromptsFn   func() ([]toolbox.Prompt, error)
	ReadFn      func(toolbox.Access, string) (toolbox.Result, error)
}

func (f fakeCaller) Call(ctx context.Context, c toolbox.Call) (toolbox.Result, error) {
	return f.CallFn(ctx, c)
}
func (f fakeCaller) Tools(context.Context) []toolbox.Tool { return f.tools }
func (f fakeCaller) States() []contract.ServerState       { return f.states }
func (f fakeCaller) Conflicts() []string                  { return f.conflicts }
func (f fakeCaller) Challenges(string) []string           { return f.challenges }
func (f fakeCaller) Resources(context.Context) ([]toolbox.Resource, error) {
	return f.ResourcesFn()
}
func (f fakeCaller) Prompts(context.Context) ([]toolbox.Prompt, error) { return f.PromptsFn() }
func (f fakeCaller) ReadResource(_ context.Context, a toolbox.Access, uri string) (toolbox.Result, error) {
	return f.ReadFn(a, uri)
}

type fakePeer struct {
	SendFn func(context.Context, peer.Message) (peer.Reply, error)
}

func (f fakePeer) Send(ctx context.Context, m peer.Message) (peer.Reply, error) {
	return f.SendFn(ctx, m)
}

func (fakePeer) Describe(p contract.Peer) string { return p.Description }

func tool(name string, destructive bool) toolbox.Tool {
	return toolbox.Tool{Tool: contract.Tool{
		Name: name, Server: "resources", DestructiveHint: destructive, InputSchema: json.RawMessage(`{"type":"object"}`),
	}}
}

// run executes an activity as a worker would, errors included.
func run[In, Out any](t *testing.T, ctx context.Context, fn func(context.Context, In) (Out, error), in In) (Out, error) {
	t.Helper()
	return runWith(t, worker.Options{BackgroundActivityContext: ctx}, fn, in)
}

func runWith[In, Out any](t *testing.T, o worker.Options, fn func(context.Context, In) (Out, error), in In) (Out, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(o)
	env.RegisterActivity(fn)
	value, err := env.ExecuteActivity(fn, in)
	return get[Out](t, value, err), err
}

func get[Out any](t *testing.T, value converter.EncodedValue, err error) Out {
	t.Helper()
	var out Out
	if err == nil {
		if err := value.Get(&out); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// failedAs checks the kind of a failure and whether Temporal tries again.
func failedAs(t *testing.T, err error, kind contract.Kind, retried bool) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		t.Fatalf("error %v is no application error", err)
	}
	if app.Type() != string(kind) || app.NonRetryable() == retried {
		t.Errorf("failed as %q, tried again: %t (%v); expected %q, %t", app.Type(), !app.NonRetryable(), err, kind, retried)
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("the error shows a token: %v", err)
	}
	return app
}

func text(t *testing.T, store *memory, got contract.Text) string {
	t.Helper()
	if got.Blob == nil {
		return got.Inline
	}
	data, err := store.Get(t.Context(), *got.Blob)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
