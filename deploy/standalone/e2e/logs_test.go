package e2e_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/telemetry"
)

// logLine is what lines of the log name alike, whichever process writes them.
type logLine struct {
	Msg, Route                       string
	SID, Conversation, Caller, Trace string
}

// logged returns the lines of a process whose message is msg, of requests those of a route.
func logged(p *proc, msg, route string) (out []logLine) {
	for text := range strings.Lines(p.out.String()) {
		var line logLine
		if json.Unmarshal([]byte(text), &line) == nil && line.Msg == msg && line.Route == route {
			out = append(out, line)
		}
	}
	return out
}

// split runs gateway, worker and a tool server as processes of their own, which log JSON and know
// their callers by keys. It returns the key of one.
func (h *home) split() (api *api, gateway, worker, tools *proc, key string) {
	h.t.Helper()
	h.serveAt(sharedServer(h.t))
	h.more["LOG_FORMAT"] = "json"
	port := freePort(h.t)
	h.also = []string{fmt.Sprintf(`{name: resources, url: "http://127.0.0.1:%d/mcp"}`, port)}
	h.extra = fmt.Sprintf("auth: [{type: keys, file: %q}]\nblobs: {url: %q}\n", filepath.Join(h.dir, "keys.json"), "file://"+filepath.Join(h.dir, "shared"))
	out, _ := shellUser{h.t, h.dir, h.environ()}.run(0, "keys", "add", "alice", "--config", h.configFile())
	key = "asg_" + strings.Fields(out[strings.Index(out, "asg_")+len("asg_"):])[0]
	tools = start(h.t, h.t.TempDir(), "mcp-resources", []string{"LOG_FORMAT=json"}, "--port", fmt.Sprint(port))
	worker = start(h.t, h.dir, "worker", h.environ(), "--config", h.machine("worker"))
	gateway = start(h.t, h.dir, "gateway", h.environ(), "--config", h.machine("gateway"))
	return newAPI(h.t, fmt.Sprintf("http://127.0.0.1:%d", h.ports.api)), gateway, worker, tools, key
}

// Whoever has one line of the log finds the others of the same turn, in every process: by session,
// conversation, caller and trace.
func TestTheLinesOfATurnNameTheSame(t *testing.T) {
	t.Parallel()
	const (
		trace, next = "0af7651916cd43dd8448eb211c80319c", "1bf7651916cd43dd8448eb211c80319c"
		session     = "session-of-alice"
	)
	h := newHome(t)
	api, gateway, worker, tools, key := h.split()
	as := func(trace string) []string {
		return []string{"Authorization: Bearer " + key, "X-Session-ID: " + session, "traceparent: 00-" + trace + "-b7ad6b7169203331-01"}
	}
	eventually(t, "all is ready", func() bool {
		r, err := api.try("GET", "/health/ready", "")
		return err == nil && r.Status == 200
	})
	asked := api.ask(`call resources_add {"name":"plum","value":5}`, as(trace)...)
	api.decide(asked.Result.Approval.UUID, `{"approved":true}`, as(next)...)
	tools.kill()
	api.say(asked.Conversation.ID, "call resources_list", as(next)...)

	request := only(t, logged(gateway, "request", "/conversations"))
	want := logLine{SID: session, Conversation: asked.Conversation.ID, Caller: request.Caller, Trace: trace}
	requireNames(t, "the request", request, want)
	if want.Caller == "" {
		t.Error("the request has no caller")
	}
	requireNames(t, "the decision", only(t, logged(worker, contract.LogDecision, "")), want)
	want.Caller, want.Conversation = "", "" // a tool server does not know them
	requireNames(t, "the call in the tool server", only(t, logged(tools, "tool", "")), want)

	want.Trace, want.Conversation = next, asked.Conversation.ID
	failures := logged(worker, telemetry.LogFailure, "")
	if len(failures) == 0 {
		t.Fatal("no failure was logged")
	}
	for _, line := range failures {
		requireNames(t, "the failed call", line, want)
	}
}

// only returns the one line that there is.
func only(t *testing.T, lines []logLine) logLine {
	t.Helper()
	if len(lines) != 1 {
		t.Fatalf("%d lines: %+v", len(lines), lines)
	}
	return lines[0]
}

// requireNames compares what lines name alike.
func requireNames(t *testing.T, what string, got, want logLine) {
	t.Helper()
	got = logLine{SID: got.SID, Conversation: got.Conversation, Caller: got.Caller, Trace: got.Trace}
	if got != want {
		t.Errorf("%s names %+v, and the turn is %+v", what, got, want)
	}
}
