package e2e_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/platform"
	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/backend"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/network"
	"agent-stop-and-go/workflows/credential/header"
)

// webhook is a receiver of notifications. Its responses take as long as slow and fail while
// down.
type webhook struct {
	*httptest.Server
	slow time.Duration

	mu     sync.Mutex
	down   bool
	told   []string // accepted bodies
	tries  int
	inside int
	twice  bool // two requests at a time
}

func newWebhook(t *testing.T, slow time.Duration) *webhook {
	h := &webhook{slow: slow}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	h.tries++
	h.inside++
	h.twice = h.twice || h.inside > 1
	h.mu.Unlock()
	time.Sleep(h.slow)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inside--
	if h.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if r.Header.Get("Authorization") != "Bearer s3cret" {
		w.WriteHeader(http.StatusUnauthorized)
	}
	h.told = append(h.told, string(body))
}

func (h *webhook) with(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// hears waits for a notification that contains text.
func (h *webhook) hears(t *testing.T, text string) {
	t.Helper()
	eventually(t, "a notification with "+text, func() (ok bool) {
		h.with(func() {
			ok = slices.ContainsFunc(h.told, func(s string) bool { return strings.Contains(s, text) })
		})
		return ok
	})
}

// order lists the states in the notifications of a webhook.
func (h *webhook) order() (states []string) {
	h.with(func() {
		for _, body := range h.told {
			var b struct {
				StatusUpdate struct{ Status struct{ State string } }
				Task         string
			}
			if json.Unmarshal([]byte(body), &b) == nil {
				states = append(states, strings.TrimPrefix(b.StatusUpdate.Status.State, "TASK_STATE_")+b.Task)
			}
		}
	})
	return states
}

type plainTask struct{}

func (plainTask) Task(context.Context, string, string) (json.RawMessage, error) {
	return json.RawMessage(`{"task":"THE TASK"}`), nil
}

// notifying runs a server, a worker that notifies webhooks on this machine, and a
// gateway.
func (h *home) notifying() (service.Pushes, *api, *platform.Platform) {
	h.t.Helper()
	h.external(embedded.Options{})
	c, err := config.Load(h.configFile())
	if err != nil {
		h.t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	b, err := platform.Open(context.Background(), c, platform.Options{
		Getenv: h.getenv, Logger: logger, Propagators: []workflow.ContextPropagator{header.Propagator()},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	a, release, err := worker.Assemble(context.Background(), c, worker.Parts{
		Blobs: b.Blobs, Keyring: b.Keyring, Getenv: h.getenv, Logger: logger, Push: worker.Push{Tasks: plainTask{}, Reach: network.ReachPrivate},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	w := worker.New(b.Client, worker.Place{TaskQueue: c.Temporal.TaskQueue, Address: b.Address, Keyring: b.Keyring}, a, func(err error) { h.t.Error(err) })
	if err := w.Start(); err != nil {
		h.t.Fatal(err)
	}
	agent, err := c.Agent(context.Background(), b.Blobs)
	if err != nil {
		h.t.Fatal(err)
	}
	temporal := backend.New(backend.Options{
		Client: b.Client, TaskQueue: c.Temporal.TaskQueue, Namespace: b.Namespace, Agent: agent, Blobs: b.Blobs, Keyring: b.Keyring,
		PushReach: network.ReachPrivate,
	})
	g := gateway.New(gateway.Deps{Backend: temporal, Agent: agent, Blobs: b.Blobs, Keyring: b.Keyring, Logger: logger})
	web := httptest.NewServer(g)
	h.t.Cleanup(func() {
		g.Close()
		web.Close()
		w.Stop()
		if err := release(); err != nil {
			h.t.Error(err)
		}
		if err := b.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return temporal, newAPI(h.t, web.URL), b
}

// TestRecordHistoriesOfWebhooks also records the histories.
func TestRecordHistoriesOfWebhooks(t *testing.T) {
	t.Parallel()
	hooks, api, b := newHome(t).notifying()
	asked := api.ask(`call tick {}`)
	id := asked.Conversation.ID
	quick, slow, dead := newWebhook(t, 0), newWebhook(t, 300*time.Millisecond), newWebhook(t, 0)
	dead.down = true
	set := func(name string, h *webhook) service.PushConfig {
		c, err := hooks.SetPush(t.Context(), id, service.PushConfig{ID: name, URL: h.URL, Token: "t0ken", Scheme: "Bearer", Credentials: "s3cret"})
		if err != nil {
			t.Fatal(err)
		}
		c.Token, c.Credentials = "[set]", "[set]" // as it is read
		return c
	}
	want := []service.PushConfig{set("dead", dead), set("slow", slow), set("quick", quick)}
	if got, err := hooks.PushConfigs(t.Context(), id); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d webhooks, %v", len(got), err)
	}
	quick.hears(t, "INPUT_REQUIRED")
	api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	api.want(200, "POST", "/conversations/"+id+"/close", "")
	quick.hears(t, "THE TASK")
	slow.hears(t, "THE TASK")
	dead.with(func() { dead.down = false })
	dead.hears(t, "THE TASK")
	if got := dead.order(); len(got) != 1 {
		t.Errorf("the webhook that was down was told %v", got)
	}
	for name, h := range map[string]*webhook{"quick": quick, "slow": slow} {
		states := h.order()
		t.Logf("%s was told %v in %d attempts", name, states, h.tries)
		if states[0] != "INPUT_REQUIRED" || slices.Index(states, "THE TASK") != len(states)-1 || h.twice {
			t.Errorf("%s was told %v, two at a time: %v", name, states, h.twice)
		}
	}
	noSecretsIn(t, historyText(t, b, contract.PushWorkflowID(id)))
	keep(t, b.Client, "push", contract.PushWorkflowID(id))
	keep(t, b.Client, "push-conversation", contract.ConversationWorkflowID(id))
}

// TestTheShortestTaskIsTold sets the webhook in the message itself.
func TestTheShortestTaskIsTold(t *testing.T) {
	t.Parallel()
	_, api, _ := newHome(t).notifying()
	for range 5 {
		hook := newWebhook(t, 0)
		api.want(200, "POST", "/a2a", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{
			"message":{"messageId":"`+hook.URL+`","role":"ROLE_USER","parts":[{"text":"say hello"}]},
			"configuration":{"taskPushNotificationConfig":{"url":"`+hook.URL+`","authentication":{"scheme":"Bearer","credentials":"s3cret"}}}}}`,
			"A2A-Version: 1.0")
		hook.hears(t, "THE TASK")
	}
}

func historyText(t *testing.T, b *platform.Platform, workflowID string) (text string) {
	t.Helper()
	for _, e := range historyOf(t, b.Client, workflowID, "").GetEvents() {
		text += readable(e) + "\n"
	}
	return text
}

func noSecretsIn(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{"t0ken", "s3cret"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s can be read in the history", secret)
		}
	}
	if !strings.Contains(text, "quick") {
		t.Error("the history cannot be read at all")
	}
}
