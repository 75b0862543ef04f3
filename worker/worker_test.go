package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.temporal.io/sdk/activity"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/worker/calls"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/review"
)

// names is a Registry.
type names []string

func (n *names) RegisterActivityWithOptions(a any, o activity.RegisterOptions) {
	if reflect.ValueOf(a).Kind() == reflect.Func {
		*n = append(*n, o.Name)
	}
}

func registered(a worker.Activities) []string {
	var n names
	worker.Register(&n, a, calls.New("own", nil))
	slices.Sort(n)
	return n
}

func TestEveryActivityIsBound(t *testing.T) {
	want := []string{
		contract.ActivityGenerate.Name, contract.ActivitySummarize.Name, contract.ActivityCallTool.Name, contract.ActivityListTools.Name,
		contract.ActivityDelegate.Name, contract.ActivityCompose.Name, contract.ActivityOffload.Name, contract.ActivityExport.Name,
		contract.ActivityNotify.Name, contract.ActivityReadAnswer.Name, review.Activity.Name, contract.ActivityWithdraw.Name,
		"record_audit", "give_standing_grant", "select_hooks", "send_hook", "start_generate", "start_digest", "start_call_tool", "end_conversation", "bury_conversation", "erase_conversation", "expire_conversations", "mark_values", "collect_values",
	}
	slices.Sort(want)
	if got := registered(worker.Activities{}); !slices.Equal(got, want) {
		t.Errorf("bound %v, expected %v", got, want)
	}
}

func TestTheActivitiesOfASingleNodeHaveItsName(t *testing.T) {
	c := config.Default()
	c.Name, c.MCPServers, c.Root = "file", nil, &config.Node{Type: config.LLMNode, Name: "clerk"}
	a, release, err := worker.Assemble(t.Context(), c, worker.Parts{Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	if a.Deletions.AgentName != c.AgentName() || c.AgentName() != "clerk" {
		t.Errorf("conversations are deleted as those of %q, and are of %q", a.Deletions.AgentName, c.AgentName())
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

func TestAssembledActivitiesAreComplete(t *testing.T) {
	c := config.Default()
	c.MCPServers = nil
	a, release, err := worker.Assemble(t.Context(), c, worker.Parts{Audit: &worker.Audit{}, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	for f, v := range reflect.ValueOf(a).Fields() {
		if v.IsNil() {
			t.Errorf("%s is missing", f.Name)
		}
	}
	if a.Peers.Peer == nil || a.Models.Peers == nil {
		t.Error("nobody delegates")
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

// warningHandler is a slog.Handler that sends warnings to a channel.
type warningHandler struct {
	slog.Handler
	warnings chan string
}

func (w warningHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level == slog.LevelWarn {
		w.warnings <- r.Message
	}
	return w.Handler.Handle(ctx, r)
}

func (w warningHandler) Enabled(context.Context, slog.Level) bool { return true }

func (w warningHandler) WithAttrs([]slog.Attr) slog.Handler { return w }

func TestAssembleWarnsOfWhatItsServersOffer(t *testing.T) {
	m := server.NewMCPServer("s", "1")
	m.AddTool(mcp.NewTool("remove", mcp.WithDestructiveHintAnnotation(true), mcp.WithReadOnlyHintAnnotation(false)), nil)
	web := httptest.NewServer(server.NewStreamableHTTPServer(m))
	defer web.Close()
	c, err := config.Parse("agent.yaml", fmt.Appendf(nil, `
llm: {model: "demo:rules"}
mcp_servers: [{name: things, url: %q}]
agent:
  name: tree
  type: sequential
  agents:
    - {name: asks, prompt: x}
    - {name: gather, type: parallel, agents: [{name: cleaner, prompt: x}, {name: held, prompt: x, approval: required}]}
`, web.URL+"/mcp"))
	if err != nil {
		t.Fatal(err)
	}
	w := warningHandler{slog.DiscardHandler, make(chan string, 10)}
	_, release, err := worker.Assemble(t.Context(), c, worker.Parts{Getenv: func(string) string { return "" }, Logger: slog.New(w)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := <-w.warnings, `node "cleaner" runs destructive tools without asking`; got != want {
		t.Errorf("warned %q, expected %q", got, want)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if n := len(w.warnings); n > 0 {
		t.Errorf("%d more warnings: %s", n, <-w.warnings)
	}
}

func TestEverySettingOfAnAgentReachesItsClient(t *testing.T) {
	c, err := config.Load("../config/testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := worker.Agents(c, func(name string) string { return map[string]string{"B_TOKEN": "t0ken", "C_KEY": "k3y"}[name] })
	if err != nil {
		t.Fatal(err)
	}
	want := []peer.Agent{
		{Name: "e", URL: "https://e.example.com", Headers: map[string]string{}},
		{Name: "b", URL: "http://b:8080", Headers: map[string]string{"X-Team": "shop", "Authorization": "Bearer t0ken"}, Secrets: []string{"Bearer t0ken", "t0ken"}, AllowPrivate: true},
		{Name: "d", URL: "http://d", Headers: map[string]string{}},
		{Name: "c", URL: "https://c.example.com/a2a", Headers: map[string]string{"X-API-Key": "k3y"}, Secrets: []string{"k3y"}, AllowPrivate: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	got, err = worker.Agents(c, func(string) string { return "" })
	if err != nil || got[1].Problem != "headers: not set in the environment: [B_TOKEN]" || got[1].Headers != nil || got[0].Problem != "" {
		t.Errorf("without variables: %+v, %v", got, err)
	}
}

func TestEverySettingOfAServerReachesTheToolbox(t *testing.T) {
	c, err := config.Load("../config/testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := worker.Servers(c, func(name string) string { return map[string]string{"FAR_TOKEN": "t0ken"}[name] })
	if err != nil {
		t.Fatal(err)
	}
	want := []toolbox.Server{
		{
			Name: "near", Command: "tool", Args: []string{"--stdio", "2026-01-02"}, Env: map[string]string{"LANG": "C"},
			Headers: map[string]string{}, Unannotated: toolbox.Run, Transport: toolbox.Stdio, Roots: []string{".", "file:///srv"},
			SampleTokens: 99, MayAsk: true, ExposeResources: true, ExposePrompts: true, Wording: contract.WordingResources,
		},
		{
			Name: "far", URL: "http://localhost:8090/mcp", Env: map[string]string{}, Unannotated: toolbox.Ask, Transport: toolbox.SSE,
			Headers: map[string]string{"X-Team": "shop", "Authorization": "Bearer t0ken"}, Secrets: []string{"Bearer t0ken", "t0ken"}, Timeout: 5 * time.Second,
			Allow: []string{"read", "write", "erase"}, Deny: []string{"erase"}, Destructive: []string{"write"}, Safe: []string{"read"},
			Optional: true, Prefix: true,
		},
		{Name: "desk", URL: "https://desk.example.com/mcp", Env: map[string]string{}, Headers: map[string]string{}, Unannotated: toolbox.Ask},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err = worker.Servers(c, func(string) string { return "" })
	if err != nil || got[1].Problem != "headers: not set in the environment: [FAR_TOKEN]" || got[1].Headers != nil || got[0].Problem != "" {
		t.Errorf("a missing variable: %+v, %v", got, err)
	}
	if _, err := worker.Servers(c, func(string) string { return "a\nb" }); err == nil || !strings.Contains(err.Error(), "line break") {
		t.Errorf("a variable that no header can have: %v", err)
	}
}

func TestWhatAServerGetsOfTheEnvironmentIsSecret(t *testing.T) {
	c, err := config.Parse("agent.yaml", []byte(`mcp_servers:
  - {name: near, command: tool, env: {GITHUB_PAT: "${PAT}", DSN: "postgres://u:${DB}@h/db", DATA: "${DATA}"}}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := worker.Servers(c, func(name string) string {
		return map[string]string{"PAT": "ghp_canary", "DB": "pa55word", "DATA": "/srv/data"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"postgres://u:pa55word@h/db", "pa55word", "ghp_canary"}
	if diff := cmp.Diff(want, got[0].Secrets); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEverySettingOfAModelReachesTheRouter(t *testing.T) {
	c, err := config.Load("../config/testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := worker.Models(c, func(name string) string { return map[string]string{"LLAMA_TOKEN": "t0ken"}[name] })
	if err != nil {
		t.Fatal(err)
	}
	want := []llm.Entry{
		{
			Name: "big.one", Provider: contract.ProviderAnthropic, Model: "claude-opus-4-1", Headers: map[string]string{}, Timeout: time.Minute,
			Price: llm.Price{Input: 15, Output: 75},
		},
		{
			Name: "fast", Provider: contract.ProviderCompatible, Model: "llama-3.3-70b", BaseURL: "http://localhost:8000/v1?team=shop",
			KeyVariable: "LLAMA_KEY", Headers: map[string]string{"X-Team": "shop", "Authorization": "Bearer t0ken"}, Secrets: []string{"Bearer t0ken", "t0ken"}, Temperature: new(0.25),
			MaxTokens: 4096, ContextWindow: 32768, Timeout: 2 * time.Minute, Images: new(false), PDF: new(true), TextToolCalls: true,
			Price: llm.Price{Input: 0.5, Output: 1, Cached: new(0.0)},
		},
		{Name: "old", Provider: "disabled", Model: "gemini-1.5-pro"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAssembleTakesTheSigningKeyFromTheEnvironment(t *testing.T) {
	const key = "0123456789abcdef0123456789abcdef"
	for text, want := range map[string]string{"push: {signing_key: '${PUSH_SIGNING_KEY}'}": key, "": ""} {
		c, err := config.Parse("agent.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		parts := worker.Parts{Getenv: func(name string) string { return map[string]string{"PUSH_SIGNING_KEY": key}[name] }}
		a, release, err := worker.Assemble(t.Context(), c, parts)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(a.Notifications.SigningKey); got != want {
			t.Errorf("%q: signed with %q", text, got)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
		_, _, err = worker.Assemble(t.Context(), c, worker.Parts{Getenv: func(string) string { return "" }})
		if missing := err != nil; missing != (want != "") {
			t.Errorf("%q without the variable: %v", text, err)
		}
	}
}

// ask makes one call of a model of a configuration.
func ask(t *testing.T, text, model string, getenv func(string) string) (llm.Reply, error) {
	t.Helper()
	c, err := config.Parse("agent.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a, release, err := worker.Assemble(t.Context(), c, worker.Parts{Getenv: getenv})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	})
	return a.Models.Model.Generate(t.Context(), llm.Request{Model: model, Messages: []contract.Message{{Role: contract.RoleUser, Content: contract.Inline("Hello.")}}})
}

func TestAModelIsCalledAsItsEntrySays(t *testing.T) {
	server := llmtest.NewServer()
	defer server.Close()
	server.Reply(llmtest.Say("Hello."))
	text := fmt.Sprintf(`
models:
  claude-x: {provider: compatible, model: llama, base_url: %q, api_key_env: TEAM_KEY, temperature: 0, max_tokens: 7, price: {input: 1, output: 2}}
  gone: {provider: google, model: g, enabled: false}
`, server.URL())
	getenv := func(name string) string {
		return map[string]string{"TEAM_KEY": "k3y", "GEMINI_BASE_URL": server.URL(), "GEMINI_API_KEY": "k"}[name]
	}
	reply, err := ask(t, text, "claude-x", getenv)
	if err != nil || reply.Text != "Hello." || reply.Usage.Cost == 0 {
		t.Fatalf("got %+v, %v", reply, err)
	}
	got := server.Requests()[0]
	if body := string(got.Body); got.Header.Get("Authorization") != "Bearer k3y" || !strings.Contains(body, `"model":"llama"`) ||
		!strings.Contains(body, `"temperature":0`) || !strings.Contains(body, `"max_tokens":7`) {
		t.Errorf("asked with %v, %s", got.Header, body)
	}
	if _, err := ask(t, text, "gone", getenv); err == nil || !strings.Contains(err.Error(), `"disabled"`) || server.Served() != 1 {
		t.Errorf("a disabled model: %v, %d requests", err, server.Served())
	}
}
