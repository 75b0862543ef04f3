package protocol_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"agent-stop-and-go/gateway/a2a/protocol"
)

// agent returns a Handler with a single task, "t1".
func agent() *fake {
	known := func(id a2a.TaskID) (*a2a.Task, error) {
		if id != "t1" {
			return nil, a2a.ErrTaskNotFound
		}
		return rich(), nil
	}
	return &fake{
		SendFn: func(_ context.Context, r *a2a.SendMessageRequest) (*a2a.Task, error) {
			return taskWith(a2a.TaskStateCompleted, "", r.Message.Parts[0].Text()), nil
		},
		SendStreamFn: func(context.Context, *a2a.SendMessageRequest) iter.Seq2[protocol.Event, error] { return life() },
		GetFn:        func(_ context.Context, r *a2a.GetTaskRequest) (*a2a.Task, error) { return known(r.ID) },
		ListFn: func(context.Context, *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
			return &a2a.ListTasksResponse{Tasks: []*a2a.Task{rich()}, TotalSize: 1, PageSize: 50}, nil
		},
		CancelFn: func(_ context.Context, r *a2a.CancelTaskRequest) (*a2a.Task, error) { return known(r.ID) },
		SubscribeFn: func(context.Context, *a2a.SubscribeToTaskRequest, string) iter.Seq2[protocol.Event, error] {
			return stream(a2a.ErrTaskNotCancelable, protocol.Event{ID: "1", Event: rich()})
		},
		SetPushFn: func(_ context.Context, c *a2a.PushConfig) (*a2a.PushConfig, error) { return c, nil },
		GetPushFn: func(_ context.Context, r *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
			return &a2a.PushConfig{TaskID: r.TaskID, ID: r.ID, URL: "u"}, nil
		},
		ListPushFn: func(_ context.Context, r *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
			return &a2a.ListTaskPushConfigResponse{Configs: []*a2a.PushConfig{{TaskID: r.TaskID, ID: "c", URL: "u"}}}, nil
		},
		DeletePushFn: func(context.Context, *a2a.DeleteTaskPushConfigRequest) error { return nil },
	}
}

// mount serves a Handler under the gateway's routes and returns the URL.
func mount(t *testing.T, h *fake) string {
	t.Helper()
	s := protocol.New(h, silent)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /a2a", s.RPC)
	mux.HandleFunc("POST /a2a/", s.RPC)
	mux.HandleFunc("GET /a2a", s.Card)
	mux.HandleFunc("GET /.well-known/agent-card.json", s.Card)
	mux.HandleFunc("GET /.well-known/agent.json", s.Card)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	card := protocol.Card(protocol.CardInput{Name: "agent", PublicURL: srv.URL, Streaming: true, Push: true})
	h.CardFn = func(context.Context) (*a2a.AgentCard, error) { return card, nil }
	return srv.URL
}

// clients returns the SDK's own clients, made from the card in the way of each version.
func clients(t *testing.T, url string) map[string]*a2aclient.Client {
	t.Helper()
	ctx := context.Background()
	read10, err := agentcard.NewResolver(nil).Resolve(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	resolver := agentcard.NewResolver(nil)
	resolver.CardParser = a2av0.NewAgentCardParser()
	read03, err := resolver.Resolve(ctx, url, agentcard.WithPath("/.well-known/agent.json"))
	if err != nil {
		t.Fatal(err)
	}
	newer, err := a2aclient.NewFromCard(ctx, read10)
	if err != nil {
		t.Fatal(err)
	}
	older, err := a2aclient.NewFromCard(ctx, read03, a2aclient.WithDefaultsDisabled(), a2av0.WithJSONRPCTransport(a2av0.JSONRPCTransportConfig{}))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*a2aclient.Client{"1.0": newer, "0.3": older}
}

func TestTheSDKsClients(t *testing.T) {
	ctx := context.Background()
	hello := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hello"), a2a.NewRawPart([]byte{0xff, 0xfe}))}
	for version, client := range clients(t, mount(t, agent())) {
		t.Run(version+" send", func(t *testing.T) {
			result, err := client.SendMessage(ctx, hello)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := result.(*a2a.Task)
			if !ok || got.Status.State != a2a.TaskStateCompleted || got.Artifacts[0].Parts[0].Text() != "hello" || !got.Status.Timestamp.Equal(noon) {
				t.Errorf("got %+v", result)
			}
		})
		t.Run(version+" get", func(t *testing.T) {
			got, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: "t1"})
			if err != nil || got.Status.Message.Parts[0].Text() != "sure?" || string(got.Artifacts[0].Parts[0].Raw()) != "tck" {
				t.Errorf("got %+v, %v", got, err)
			}
			if _, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: "other"}); !errors.Is(err, a2a.ErrTaskNotFound) {
				t.Errorf("got %v", err)
			}
		})
		t.Run(version+" cancel", func(t *testing.T) {
			if got, err := client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: "t1"}); err != nil || got.ID != "t1" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
		t.Run(version+" stream", func(t *testing.T) {
			var last a2a.Event
			n := 0
			for event, err := range client.SendStreamingMessage(ctx, hello) {
				if err != nil {
					t.Fatal(err)
				}
				last, n = event, n+1
			}
			if end, ok := last.(*a2a.TaskStatusUpdateEvent); n != 5 || !ok || end.Status.State != a2a.TaskStateCompleted {
				t.Errorf("got %d events, the last %+v", n, last)
			}
		})
		t.Run(version+" subscribe", func(t *testing.T) {
			var got []any
			for event, err := range client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: "t1"}) {
				if err != nil {
					got = append(got, err)
					continue
				}
				got = append(got, event.TaskInfo().TaskID)
			}
			if len(got) != 2 || got[0] != a2a.TaskID("t1") || !errors.Is(got[1].(error), a2a.ErrTaskNotCancelable) {
				t.Errorf("got %v", got)
			}
		})
		t.Run(version+" push", func(t *testing.T) {
			config := &a2a.PushConfig{TaskID: "t1", ID: "c", URL: "u", Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: "x"}}
			if got, err := client.CreateTaskPushConfig(ctx, config); err != nil || got.Auth.Scheme != "Bearer" || got.ID != "c" {
				t.Errorf("got %+v, %v", got, err)
			}
			if got, err := client.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: "t1", ID: "c"}); err != nil || got.ID != "c" {
				t.Errorf("got %+v, %v", got, err)
			}
			if got, err := client.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: "t1"}); err != nil || len(got) != 1 {
				t.Errorf("got %+v, %v", got, err)
			}
			if err := client.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{TaskID: "t1", ID: "c"}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheSDKsClientListsTasks(t *testing.T) {
	client := clients(t, mount(t, agent()))["1.0"]
	got, err := client.ListTasks(context.Background(), &a2a.ListTasksRequest{PageSize: 10})
	if err != nil || len(got.Tasks) != 1 || got.TotalSize != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTheServerIsMountedWithAndWithoutASlash(t *testing.T) {
	url := mount(t, agent())
	for _, path := range []string{"/a2a", "/a2a/"} {
		client, err := a2aclient.NewFromEndpoints(context.Background(), []*a2a.AgentInterface{a2a.NewAgentInterface(url+path, a2a.TransportProtocolJSONRPC)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.GetTask(context.Background(), &a2a.GetTaskRequest{ID: "t1"}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
