package config_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/limits"
	"agent-stop-and-go/config/local"
	"agent-stop-and-go/config/price"
	"agent-stop-and-go/config/prompt"
	"agent-stop-and-go/config/webhooks"
	"agent-stop-and-go/workflows/contract"
)

var update = flag.Bool("update", false, "rewrite agent.schema.json and the expected errors in testdata")

func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("agent.yaml", []byte(text))
	if err != nil {
		t.Fatalf("parse:\n%s\n%v", text, err)
	}
	return c
}

var exported = cmpopts.IgnoreUnexported(config.Config{}, prompt.Prompt{})

func TestEmptyFilesMeanDefaults(t *testing.T) {
	want := &config.Config{
		Name: "agent", Host: "127.0.0.1", Port: 8080, DataDir: "./data",
		LLM:           config.LLM{Model: "google:gemini-2.5-flash", Compaction: "summary"},
		MaxToolRounds: 10, Execution: contract.ExecutionAuto, Approval: config.Approval{CallAs: config.CallAsRequester},
		Temporal: config.Temporal{
			Namespace: "default", TaskQueue: "agent-stop-and-go",
			Port: 7233, UIPort: 8233, Retention: 720 * time.Hour, CacheSize: 250,
		},
		LocalTools: local.Tools{MaxTokens: 4096, Timeout: time.Minute}, RequestTimeout: time.Minute,
	}
	if diff := cmp.Diff(want, config.Default(), exported); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "\n\n", "# only a comment\n", "---\n", "null\n", "{}", "mcp_servers:\nport:\nllm:\n"} {
		if diff := cmp.Diff(want, parse(t, text), exported); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if err := config.Default().Validate(); err != nil {
		t.Errorf("the defaults are not valid: %v", err)
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	got, err := config.Load("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := &config.Config{
		Name: "shop", Description: "Looks after a shop.", Prompt: prompt.Prompt{Text: "Be brief.\n"}, Host: "::1", Port: 9000, PublicURL: "https://agents.example.com/shop",
		AllowedHosts: []string{"agent", "shop.internal", "fd00::7"}, AllowedOrigins: []string{"https://chat.example.com", "http://[fd00::8]:3000"},
		TrustedProxies: []string{"10.1.0.0/16", "fd00::9"},
		Auth: []config.AuthWay{
			{Type: "keys", File: "/etc/shop/keys.json", SubjectClaim: "sub", GroupsClaim: "groups", ClockSkew: 30 * time.Second, Session: 12 * time.Hour},
			{Type: "oidc", Issuer: "https://login.example.com", Audience: "shop", SubjectClaim: "email", GroupsClaim: "roles", ScopesFromToken: true,
				ClockSkew: time.Minute, ClientID: "shop-page", ClientSecret: "${SHOP_SECRET}", DeviceClientID: "shop-cli",
				LoginScopes: []string{"openid", "email"}, Session: 8 * time.Hour, Scopes: []string{"read"}, Grant: map[string][]string{"ops": {"operate", "read:all"}, "managers": {"approve"}}},
			{Type: "proxy", From: []string{"10.0.0.0/8", "fd00::1"}, Header: "X-Subject", GroupsHeader: "X-Groups",
				SubjectClaim: "sub", GroupsClaim: "groups", ClockSkew: 30 * time.Second, Session: 12 * time.Hour},
		},
		Provider: config.Provider{Organization: "Example Corp", URL: "https://example.com"}, Push: config.Push{AllowPrivate: true, SigningKey: "${PUSH_SIGNING_KEY}"}, DataDir: "/var/lib/shop",
		LLM: config.LLM{Model: "claude-sonnet-4-5", BaseURL: "https://proxy.example.com/v1", Compaction: "window"},
		Models: map[string]config.ModelEntry{
			"fast": {
				Provider: "compatible", Model: "llama-3.3-70b", BaseURL: "http://localhost:8000/v1?team=shop", APIKeyEnv: "LLAMA_KEY",
				Temperature: new(0.25), MaxTokens: 4096, ContextWindow: 32768, Timeout: 2 * time.Minute, Enabled: true,
				Description: "On our own machine.", Headers: map[string]string{"X-Team": "shop", "Authorization": "Bearer ${LLAMA_TOKEN}"},
				Price: &price.Price{Input: 0.5, Output: 1, Cached: new(0.0)}, Fallback: []string{"openai:gpt-4o", "old", "big.one"}, Selectable: true, Images: new(false), PDF: new(true), TextToolCalls: true,
			},
			"big.one": {Provider: "anthropic", Model: "claude-opus-4-1", Timeout: time.Minute, Enabled: true, Price: &price.Price{Input: 15, Output: 75}},
			"old":     {Provider: "google", Model: "gemini-1.5-pro", Timeout: time.Minute},
		},
		LocalTools: local.Tools{Offer: []string{"ask_model", "models"}, Models: []string{"fast", "big.one"}, MaxTokens: 500, Timeout: 90 * time.Second},
		Limits: &limits.Limits{
			Turn:         limits.Limit{Tokens: 100_000, Cost: new(0.25), Calls: 20, Time: new(5 * time.Minute)},
			Conversation: limits.Limit{Tokens: 2_000_000, Cost: new(10.0), Calls: 500, Time: new(24 * time.Hour)},
			Rates: []limits.Rate{
				{Name: "far", Server: "far", Class: "destructive", Per: "caller", Calls: 20, In: time.Minute, OnLimit: "ask"},
				{Tool: "a2a_helper", Per: "conversation", Calls: 1, In: time.Hour, OnLimit: "pause"},
			},
			Caller: limits.Caller{Requests: 120, Burst: 40, Conversations: 20},
		},
		MCPServers: []config.MCPServer{
			{Name: "near", Command: "tool", Args: []string{"--stdio", "2026-01-02"}, Env: map[string]string{"LANG": "C"}, Unannotated: "run",
				Transport: "stdio", Roots: []string{".", "file:///srv"}, Sampling: &config.Sampling{MaxTokens: 99}, Elicitation: true,
				Expose: []string{"resources", "prompts"}, Wording: "resources"},
			{Name: "far", URL: "http://localhost:8090/mcp", Unannotated: "ask", Transport: "sse", Timeout: 5 * time.Second,
				Headers:     map[string]string{"X-Team": "shop", "Authorization": "Bearer ${FAR_TOKEN}"},
				Tools:       config.ToolFilter{Allow: []string{"read", "write", "erase"}, Deny: []string{"erase"}},
				Destructive: []string{"write"}, Safe: []string{"read"}, Optional: true, Prefix: true},
			{Name: "desk", URL: "https://desk.example.com/mcp", Credential: config.CredentialNone, Unannotated: "ask"},
		},
		TokenExchange: &config.TokenExchange{
			Issuer: "https://login.example.com", ClientID: "shop", ClientSecret: "${SHOP_SECRET}",
			ActorToken: config.ActorNone, ActorScopes: []string{"act"}, SubjectToken: "id_token",
		},
		A2A: []config.A2AAgent{{
			Name: "e", URL: "https://e.example.com", Credential: config.CredentialExchange,
			Exchange: &config.Exchange{Audience: "e", Resource: "https://e.example.com", Scopes: []string{"read"}}, Context: "call",
		}, {Name: "b", URL: "http://b:8080", Description: "Does b.", DestructiveHint: true,
			Headers: map[string]string{"X-Team": "shop", "Authorization": "Bearer ${B_TOKEN}"}, Timeout: 30 * time.Minute, Context: "conversation", AllowPrivateRedirects: true}},
		Root: &config.Node{
			Name: "all", Type: "sequential", Approval: "inherit", OnReject: "continue", Timeout: 90 * time.Minute,
			Agents: []*config.Node{
				{Name: "round", Type: "loop", Approval: "inherit", OnReject: "stop", MaxIterations: 3, Agents: []*config.Node{{
					Name: "ask", Type: "llm", Approval: "inherit", OnReject: "stop",
					Model: "openai-gpt-4o", Prompt: "Ask.", History: true, Tools: []string{"near", "far_read"}, MaxToolRounds: 4,
					OutputKey: "asked", CanExitLoop: true,
					OutputSchema: map[string]any{
						"type": "object", "required": []any{"title"},
						"properties": map[string]any{"title": map[string]any{"type": "string", "maxLength": json.Number("80")}},
					},
					A2A: []config.A2AAgent{{Name: "d", URL: "http://d", DestructiveHint: true, Context: "call"}},
				}}},
				{Name: "both", Type: "parallel", Approval: "inherit", OnReject: "stop", FailFast: true, Agents: []*config.Node{
					{
						Name: "c", Type: "a2a", Approval: "required", OnReject: "stop",
						URL: "https://c.example.com/a2a", Prompt: "Do {asked}.", Description: "Does c.", DestructiveHint: true,
						Headers: map[string]string{"X-API-Key": "${C_KEY}"}, AllowPrivateRedirects: true, Context: "conversation", Timeout: 2 * time.Hour,
					},
					{Name: "plain", Type: "llm", Model: "fast", Prompt: "About {asked.title}.", Approval: "inherit", OnReject: "stop", Tools: []string{}},
				}},
			},
		},
		MaxToolRounds: 1000, Execution: contract.ExecutionLean,
		Approval: config.Approval{
			Timeout: 72 * time.Hour, CallAs: "approver",
			Approvers: []string{"group:ops", "subject:https://login.example.com boss", "not_requester"},
			Webhooks:  []webhooks.Hook{{URL: "https://hooks.example.com/${HOOK_TOKEN}", Secrets: []string{"${HOOK_OLD}", "${HOOK_NEW}"}, Events: []string{"approval.opened"}, AllowPrivate: true}},
		},
		Temporal: config.Temporal{Address: "temporal:7233", Namespace: "shop", TaskQueue: "q", Port: 1, UIPort: 0, Retention: time.Hour, CacheSize: 50, Deployment: config.Deployment{Name: "shop", Build: "2.5.0"}},
		Blobs:    config.Blobs{URL: "file:///srv/blobs"},
		Events:   config.Events{Redis: "rediss://shop:${REDIS_PASSWORD}@redis:6380/1"}, RequestTimeout: 1500 * time.Millisecond,
	}
	if diff := cmp.Diff(want, got, exported); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnchorsAndMergeKeysAreWrittenOut(t *testing.T) {
	c := parse(t, `
mcp_servers:
  - &base {name: one, command: tool, args: &args ["-v"]}
  - {<<: *base, name: two}
  - {name: three, command: tool, args: *args}
`)
	for i, name := range []string{"one", "two", "three"} {
		want := config.MCPServer{Name: name, Command: "tool", Args: []string{"-v"}, Unannotated: "ask"}
		if diff := cmp.Diff(want, c.MCPServers[i]); diff != "" {
			t.Errorf("server %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestAMissingFileIsReported(t *testing.T) {
	_, err := config.Load(filepath.Join(t.TempDir(), "none.yaml"))
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "failed to read config file: ") {
		t.Errorf("got %v", err)
	}
}

func TestMistakesAreListedOnePerLineAndInOrder(t *testing.T) {
	_, err := config.Parse("f.yaml", []byte("port: 0\nhosts: x\nname: 5\n"))
	var all config.Errors
	if !errors.As(err, &all) || len(all) != 3 {
		t.Fatalf("got %v", err)
	}
	for i, e := range all {
		if e.Line != i+1 || e.File != "f.yaml" || e.Path == "" {
			t.Errorf("mistake %d: %+v", i, *e)
		}
	}
	var one *config.Error
	if !errors.As(err, &one) || one.Path != "port" {
		t.Errorf("first mistake: %+v", one)
	}
	if n := strings.Count(err.Error(), "\n"); n != 2 {
		t.Errorf("%d line breaks in:\n%v", n, err)
	}
}

func TestValidateChecksChangedSettings(t *testing.T) {
	c := parse(t, "name: x\nport: 9000\n")
	c.Port = 70000
	c.LLM.Model = "nobody:x"
	err := c.Validate()
	want := `agent.yaml: llm.model: "nobody:x": unknown provider "nobody"; providers are google, anthropic, openai, mistral, ollama, openrouter, demo
agent.yaml:2: port: 70000: must be between 1 and 65535`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestAnEndlessFileIsRefused(t *testing.T) {
	_, err := config.Load("/dev/zero")
	if err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("got %v", err)
	}
}
