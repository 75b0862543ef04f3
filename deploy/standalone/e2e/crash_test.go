package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

func TestTwentyApprovalsSurviveKillMinusNine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, agent := h.outside()
	type waiting struct{ conversation, uuid, args string }
	var all []waiting
	for i := range 20 {
		args := fmt.Sprintf(`{"name":"item-%d","n":%d}`, i, i)
		asked := api.ask("call note_add " + args)
		all = append(all, waiting{asked.Conversation.ID, asked.Result.Approval.UUID, args})
	}
	agent.kill()
	api, _ = h.outside()
	for i, w := range all {
		c := api.conversation(w.conversation)
		if c.PendingApproval == nil || !sameJSON(t, string(c.PendingApproval.ToolArgs), w.args) {
			t.Fatalf("approval %d after the restart: %+v", i, c.PendingApproval)
		}
		if i%2 == 1 {
			done := api.decide(w.uuid, `{"approved":false}`)
			if done.Result.Response != "Operation cancelled by user." {
				t.Errorf("rejected: %+v", done.Result)
			}
			continue
		}
		done := api.decide(w.uuid, `{"approved":true}`)
		if want := fmt.Sprintf("The tool said: added item-%d", i); done.Result.Response != want {
			t.Errorf("approved: %+v, want %s", done.Result, want)
		}
	}
	names := map[any]int{}
	for _, c := range h.tools.called("note_add") {
		names[c.Args["name"]]++
	}
	if len(names) != 10 {
		t.Errorf("%d different calls, want the 10 that were approved: %v", len(names), names)
	}
	for name, n := range names {
		if n != 1 {
			t.Errorf("%v was added %d times", name, n)
		}
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// midCall requests a destructive call, approves it, and returns while it runs.
func (h *home) midCall(a *api) (asked body) {
	h.t.Helper()
	asked = a.ask("call slow_write")
	go a.try("POST", "/approvals/"+asked.Result.Approval.UUID, `{"approved":true}`)
	<-h.tools.entered
	return asked
}

// All processes die during a destructive call. Its outcome is unknown, so a human is asked and
// the call is not repeated automatically.
func TestADestructiveCallCutOffByACrashAsksAHuman(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, agent := h.outside()
	asked := h.midCall(api)
	agent.kill()
	api, _ = h.outside()
	id := asked.Conversation.ID
	var question *approval
	eventually(t, "a human is asked about the lost call", func() bool {
		question = api.conversation(id).PendingApproval
		return question != nil && question.UUID != asked.Result.Approval.UUID
	})
	if n := len(h.tools.called("slow_write")); n != 1 {
		t.Errorf("the call was made %d times before anybody answered", n)
	}
	h.tools.release()
	done := api.decide(question.UUID, `{"approved":true}`)
	if done.Result.Response != "The tool said: done at last" {
		t.Errorf("after the approved repetition: %+v", done.Result)
	}
	calls := h.tools.called("slow_write")
	if len(calls) != 2 || calls[0].Key != calls[1].Key {
		t.Errorf("the repetition must have the same idempotency key: %+v", calls)
	}
}

// The parts run in separate processes: server, worker and gateway.
func TestWorkerAndGatewayApart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	other, _ := h.outside() // its Temporal server is used by both
	other.ask("hello")
	g := h.apart()
	env := append(g.environ(), fmt.Sprintf("TEMPORAL_ADDRESS=127.0.0.1:%d", h.ports.grpc),
		"AGENT_CREDENTIAL_KEYS=k1:MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	config := g.configFile()
	worker := start(t, g.dir, "worker", env, "--config", config)
	gateway := start(t, g.dir, "gateway", env, "--config", config)
	api := newAPI(t, fmt.Sprintf("http://127.0.0.1:%d", g.ports.api))

	asked := api.ask(`call note_add {"name":"apart"}`)
	worker.kill() // while the approval waits
	worker = start(t, g.dir, "worker", env, "--config", config)
	done := api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	if done.Result.Response != "The tool said: added apart" || len(g.tools.called("note_add")) != 1 {
		t.Errorf("after the worker came back: %+v, %d calls", done.Result, len(g.tools.called("note_add")))
	}

	eventually(t, "the list shows this agent's conversation and not another's", func() bool {
		list := api.want(200, "GET", "/conversations", "")
		return list.Summary.Total == 1 && len(list.Conversations) == 1
	})

	id := asked.Conversation.ID
	lost := make(chan error, 1)
	go func() {
		_, err := api.try("POST", "/conversations/"+id+"/messages", messageJSON("call slow_read"), "Idempotency-Key: k")
		lost <- err
	}()
	<-g.tools.entered
	gateway.kill() // while a client waits
	if err := <-lost; err == nil {
		t.Error("the client got an answer from a dead gateway")
	}
	start(t, g.dir, "gateway", env, "--config", config)
	worker.kill() // while a read-only tool runs: it is called again
	g.tools.release()
	start(t, g.dir, "worker", env, "--config", config)
	retried := api.do("POST", "/conversations/"+id+"/messages", messageJSON("call slow_read"), "Idempotency-Key: k")
	if retried.Status != http.StatusOK || retried.Body.Result.Response != "The tool said: done at last" {
		t.Errorf("the retried request: status %d: %s", retried.Status, retried.Raw)
	}
	users := 0
	for _, m := range api.conversation(id).Messages {
		if m.Role == "user" && m.Content == "call slow_read" {
			users++
		}
	}
	if users != 1 {
		t.Errorf("the message was recorded %d times", users)
	}
}

// apart returns a second home with its own folder and task queue at the same server.
func (h *home) apart() *home {
	g := *h
	g.dir = h.t.TempDir()
	g.ports = ports{api: freePort(h.t), grpc: freePort(h.t)}
	g.extra = ""
	g.queue = "apart"
	return &g
}

func TestSIGTERMDrainsAndNothingIsLost(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, agent := h.outside()
	asked := h.midCall(api)
	ended := make(chan error, 1)
	go func() { ended <- agent.terminate() }()
	eventually(t, "the agent says that it is stopping", func() bool { return contains(agent.out.String(), "stopping") })
	h.tools.release() // only now may the call finish
	if err := <-ended; err != nil {
		t.Fatalf("the agent ended with %v\n%s", err, agent.out)
	}
	api, _ = h.outside()
	eventually(t, "the answer is there after the restart", func() bool {
		m := api.conversation(asked.Conversation.ID).Messages
		return m[len(m)-1].Content == "The tool said: done at last"
	})
	if n := len(h.tools.called("slow_write")); n != 1 {
		t.Errorf("the call was made %d times", n)
	}
}

func TestAStartThatCannotWorkSaysWhatToDo(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	_, _ = h.outside()
	config := h.configFile()
	cases := map[string]struct {
		config string
		says   string
	}{
		"the port is taken": {config, "set port in the YAML"},
		"the gRPC port is taken": {func() string {
			g := h.apart()
			g.ports.grpc = h.ports.grpc
			return g.configFile()
		}(), "set temporal.port in the YAML"},
		"the data directory is in use": {func() string {
			g := h.apart()
			g.dir = h.dir
			g.file = "second.yaml"
			return g.configFile()
		}(), "is in use by another agent"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := launch(t, h.dir, "agent", h.environ(), "--config", c.config)
			select {
			case <-p.done:
			case <-time.After(patience):
				t.Fatal("it started all the same")
			}
			if p.err == nil || !contains(p.out.String(), c.says) {
				t.Errorf("ended with %v and says:\n%s", p.err, p.out)
			}
		})
	}
}
