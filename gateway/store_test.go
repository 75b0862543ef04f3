package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const notShared = "do not share a blob store: set blobs.url in the YAML files of both to one place"

// workerOn is a worker that checks its blob store as ListTools does. change edits its
// result.
func workerOn(t *testing.T, store *memory, change func(in contract.ListToolsInput, c *contract.StoreCheck) *contract.StoreCheck) *fakeClient {
	return &fakeClient{HealthFn: func() error { return nil }, ExecuteFn: func(_ client.StartWorkflowOptions, workflow any, args []any) (client.WorkflowRun, error) {
		if workflow != contract.WorkflowCatalogue {
			return nil, fmt.Errorf("the worker has another store, and got a %v", workflow)
		}
		in := args[0].(contract.ListToolsInput)
		own, err := store.Put(t.Context(), []byte("of the worker"))
		if err != nil {
			t.Fatal(err)
		}
		check := &contract.StoreCheck{Own: own, Probe: *in.Probe}
		if _, err := store.Get(t.Context(), *in.Probe); err != nil {
			check.Problem = err.Error()
		}
		if change != nil {
			check = change(in, check)
		}
		return fakeRun{encoded: encoded{value: contract.CatalogueResult{
			Body: contract.JSON{Raw: []byte(`{"tools":[],"servers":[],"model":{"name":"m"}}`)}, Store: check,
		}}}, nil
	}}
}

func TestReadinessNeedsOneBlobStore(t *testing.T) {
	elsewhere := func(string) *memory { return &memory{} }
	tests := map[string]struct {
		store  func(of string) *memory // nil means that of the gateway
		change func(contract.ListToolsInput, *contract.StoreCheck) *contract.StoreCheck
		status int
		want   string
	}{
		"the same":    {nil, nil, 200, `"problems":[]`},
		"another one": {elsewhere, nil, 503, notShared},
		"the worker cannot read": {nil, func(_ contract.ListToolsInput, c *contract.StoreCheck) *contract.StoreCheck {
			c.Problem = "permission denied"
			return c
		}, 503, notShared},
		"the gateway cannot read": {elsewhere, func(_ contract.ListToolsInput, c *contract.StoreCheck) *contract.StoreCheck {
			c.Problem = ""
			return c
		}, 503, notShared},
		"an answer to another gateway": {nil, func(_ contract.ListToolsInput, c *contract.StoreCheck) *contract.StoreCheck {
			c.Probe, c.Problem = contract.NewBlob([]byte("another's")), "not in the store"
			return c
		}, 200, `"problems":[]`},
		"an older worker": {elsewhere, func(contract.ListToolsInput, *contract.StoreCheck) *contract.StoreCheck { return nil },
			200, `"notes":["it is not known whether the worker shares the blob store`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &fakeClient{}
			a := onTemporal(t, c)
			store := a.blobs
			if tt.store != nil {
				store = tt.store("worker")
			}
			*c = *workerOn(t, store, tt.change)
			reply := a.want(tt.status, a.do("GET", "/health/ready", ""))
			if !strings.Contains(reply.raw, tt.want) || strings.Contains(reply.raw, "permission denied") {
				t.Error(reply.raw)
			}
		})
	}
}

func TestManyReadinessPollsLeaveOneProbe(t *testing.T) {
	c := &fakeClient{}
	now := epoch
	a := newAPI(t, nil, func(d *gateway.Deps) { d.Now = func() time.Time { return now } }, onClient(c))
	*c = *workerOn(t, a.blobs, nil)
	for range 100 {
		now = now.Add(time.Minute)
		a.want(200, a.do("GET", "/health/ready", ""))
	}
	if n := a.blobs.count(); n != 2 {
		t.Errorf("%d values are in the store, expected the gateway's probe and the worker's", n)
	}
}

func TestMessagesThatWorkersCannotReadAreRefused(t *testing.T) {
	long := strings.Repeat("x", contract.InlineLimit+1)
	otherStore := func(context.Context) (contract.Catalogue, error) {
		return contract.Catalogue{}, service.Errorf(service.KindUnavailable, notShared+": %w", service.ErrOtherStore)
	}
	tests := map[string]struct {
		text      string
		agent     contract.Agent
		catalogue func(context.Context) (contract.Catalogue, error)
		refused   bool
	}{
		"a long message": {long, contract.Agent{}, otherStore, true},
		"a short message while nothing is known of the store": {"hello", contract.Agent{}, otherStore, false},
		"a short message to an agent in the store":            {"hello", contract.Agent{Prompt: contract.Text{Blob: &contract.Blob{}}}, otherStore, true},
		"a long message while no worker answers": {long, contract.Agent{}, func(context.Context) (contract.Catalogue, error) {
			return contract.Catalogue{}, errors.New("no worker")
		}, false},
		"a long message with one store": {long, contract.Agent{}, func(context.Context) (contract.Catalogue, error) {
			return contract.Catalogue{}, nil
		}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			started := 0
			a := newAPI(t, &fakeBackend{
				CatalogueFn: tt.catalogue,
				StartFn:     func(service.StartInput) (service.StartResult, error) { started++; return service.StartResult{}, nil },
				AwaitFn:     answering("ok"), ConversationFn: showing,
			}, func(d *gateway.Deps) { d.Agent = tt.agent })
			reply := a.do("POST", "/conversations", `{"message":"`+tt.text+`"}`)
			if tt.refused {
				a.wantError(503, notShared, reply)
				if a.blobs.count() > 0 {
					t.Error("what was refused is in the store")
				}
			}
			if (started == 0) != tt.refused {
				t.Errorf("started %d conversations: %d %s", started, reply.status, reply.raw)
			}
		})
	}
}

func TestMessagesAreRefusedWhileTheStoreIsNotShared(t *testing.T) {
	signals := []string{}
	a := newAPI(t, &fakeBackend{
		CatalogueFn: func(context.Context) (contract.Catalogue, error) {
			return contract.Catalogue{}, service.Errorf(service.KindUnavailable, notShared+": %w", service.ErrOtherStore)
		},
		PingFn: func() error { return nil }, AwaitFn: answering("ok"), ConversationFn: showing,
		SignalFn: func(_, signal string, _ any) error { signals = append(signals, signal); return nil },
	})
	a.want(503, a.do("GET", "/health/ready", ""))
	a.want(503, a.do("GET", "/health/ready", ""))
	if n := strings.Count(a.logs.String(), `"msg":"not ready"`); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
	a.wantError(503, notShared, a.do("POST", "/conversations", `{"message":"hello"}`))
	a.wantError(503, notShared, a.do("POST", messages, `{"message":"hello"}`))
	a.want(200, a.do("POST", "/conversations/"+someID+"/cancel", `{}`))
	if len(signals) != 1 || signals[0] != contract.SignalCancel {
		t.Errorf("signals %v", signals)
	}
}

func TestAStoreThatIsSharedAgainIsUsedAgain(t *testing.T) {
	var err error
	asked := 0
	now := epoch
	a := newAPI(t, &fakeBackend{
		CatalogueFn: func(context.Context) (contract.Catalogue, error) { asked++; return contract.Catalogue{}, err },
		StartFn:     func(service.StartInput) (service.StartResult, error) { return service.StartResult{}, nil },
		AwaitFn:     answering("ok"), ConversationFn: showing,
	}, func(d *gateway.Deps) { d.Now = func() time.Time { return now } })
	long := `{"message":"` + strings.Repeat("x", contract.InlineLimit+1) + `"}`
	err = service.Errorf(service.KindUnavailable, notShared+": %w", service.ErrOtherStore)
	for range 5 {
		a.wantError(503, notShared, a.do("POST", "/conversations", long))
	}
	if asked != 1 {
		t.Errorf("a worker was asked %d times at a moment", asked)
	}
	err, now = nil, now.Add(3*time.Second)
	for range 5 {
		now = now.Add(time.Hour)
		a.want(201, a.do("POST", "/conversations", long))
	}
	if asked != 2 {
		t.Errorf("a worker was asked %d times", asked)
	}
}
