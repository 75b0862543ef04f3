package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

func agentOf(t *testing.T, text string) contract.Agent {
	t.Helper()
	a, err := parse(t, text).Agent(t.Context(), blobstore.Memory())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestOnlyModelsThatNeedARouteHaveOne(t *testing.T) {
	const entries = `
models:
  b: {provider: google, model: g, fallback: [slow, old, "openai:x", c]}
  c: {provider: google, model: g, fallback: [b]}
  slow: {provider: google, model: g, timeout: 5m, total_timeout: 6m, fallback: [b]}
  plain: {provider: google, model: g, timeout: 60s}
  old: {provider: google, model: g, timeout: 2m, enabled: false}
  gone: {provider: google, model: g, fallback: [old]}
  claude-x: {provider: compatible, model: m, base_url: "http://x", timeout: 1s}
`
	tests := map[string]struct {
		text string
		want []contract.ModelRoute
	}{
		"the default":            {"", nil},
		"no need":                {entries + "llm: {model: plain}", nil},
		"all fallbacks disabled": {entries + "llm: {model: gone}", nil},
		"a time":                 {entries + "llm: {model: slow}", []contract.ModelRoute{{Name: "slow", Fallback: []string{"b"}, Timeout: 5 * time.Minute}}},
		"fallbacks, whose own are not followed": {entries + "llm: {model: b}", []contract.ModelRoute{
			{Name: "b", Fallback: []string{"slow", "openai:x", "c"}}, {Name: "slow", Timeout: 5 * time.Minute},
		}},
		"of nodes, sorted": {entries + "llm: {model: b}\nagent: {type: loop, agents: [{name: x, model: slow}, {name: y, model: c}, {name: z, model: plain}]}",
			[]contract.ModelRoute{
				{Name: "c", Fallback: []string{"b"}}, {Name: "slow", Fallback: []string{"b"}, Timeout: 5 * time.Minute},
			}},
		"a name that a provider has too": {entries + "llm: {model: claude-x}", []contract.ModelRoute{{Name: "claude-x", Timeout: time.Second}}},
		"of a lone node":                 {entries + "agent: {model: claude-x}", []contract.ModelRoute{{Name: "claude-x", Timeout: time.Second}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, agentOf(t, tt.text).Models); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimitsReachTheAgent(t *testing.T) {
	tests := map[string]struct {
		text string
		want *contract.Limits
	}{
		"none":          {"", nil},
		"null":          {"limits:", nil},
		"empty":         {"limits: {}", nil},
		"empty sides":   {"limits: {turn: {}, conversation: {tokens: , cost: , calls: , time: }}", nil},
		"all of a turn": {"limits: {turn: {tokens: 5, cost: 0.25, calls: 3, time: 90s}}", &contract.Limits{Turn: contract.Limit{Tokens: 5, Cost: 250_000_000, Calls: 3, Time: 90 * time.Second}}},
		"a conversation": {"limits: {conversation: {cost: 12}}", &contract.Limits{
			Conversation: contract.Limit{Cost: 12_000_000_000},
		}},
		"what a float cannot hold": {"limits: {turn: {cost: 0.3}}", &contract.Limits{Turn: contract.Limit{Cost: 300_000_000}}},
		"less than a billionth":    {"limits: {turn: {cost: 1e-12}}", &contract.Limits{Turn: contract.Limit{Cost: 1}}},
		"the most":                 {"limits: {turn: {tokens: 2000000000, cost: 1000000}}", &contract.Limits{Turn: contract.Limit{Tokens: 2e9, Cost: 1e15}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, agentOf(t, tt.text).Limits); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnEntryHasDefaults(t *testing.T) {
	c := parse(t, `
models:
  a: &a {provider: openai, model: "x:y/z", enabled: , timeout: , price: , fallback: , headers: }
  b: {<<: *a, model: w, temperature: 1}
  4: *a
`)
	want := map[string]config.ModelEntry{
		"a": {Provider: "openai", Model: "x:y/z", Enabled: true, Timeout: time.Minute},
		"b": {Provider: "openai", Model: "w", Enabled: true, Timeout: time.Minute, Temperature: new(1.0)},
		"4": {Provider: "openai", Model: "x:y/z", Enabled: true, Timeout: time.Minute},
	}
	if diff := cmp.Diff(want, c.Models); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHeadersOfAModelTakeValuesFromTheEnvironment(t *testing.T) {
	e := config.ModelEntry{Headers: map[string]string{"Authorization": "Bearer ${A}", "X-Team": "shop"}}
	got, err := e.HTTPHeaders("fast", env("A", "a"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"Authorization": "Bearer a", "X-Team": "shop"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := e.HTTPHeaders("fast", env()); err == nil || err.Error() != "model fast: headers: not set in the environment: [A]" {
		t.Errorf("a missing variable: %v", err)
	}
	const control = "model fast: headers.Authorization: the value has a line break or another control character in it"
	if _, err := e.HTTPHeaders("fast", env("A", "a\r\nInjected: y")); err == nil || err.Error() != control {
		t.Errorf("a line break: %v", err)
	}
}

func schemaOf(t *testing.T, store transcript.Store, n contract.Node) string {
	t.Helper()
	raw, err := transcript.ReadJSON(t.Context(), store, n.OutputSchema)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestAnOutputSchemaIsTheSameInAnyOrder(t *testing.T) {
	for name, text := range map[string]string{
		"one order":  "{type: object, properties: {b: {maximum: 1.50}, a: {enum: [1, 0x10, 1e3, 9007199254740993, true, null, 2026-01-02, yes]}}, title: T}",
		"another":    "{title: T, properties: {a: {enum: [1, 16, 1000.0, 9007199254740993, true, ~, 2026-01-02, 'yes']}, b: {maximum: 1.5}}, type: object}",
		"JSON":       `{"properties":{"a":{"enum":[1,16,1000,9007199254740993,true,null,"2026-01-02","yes"]},"b":{"maximum":1.5}},"title":"T","type":"object"}`,
		"in a merge": "{<<: {type: object}, properties: {b: {maximum: 1.5}, a: {enum: [1, 16, 1000, 9007199254740993, true, null, 2026-01-02, yes]}}, title: T}",
	} {
		a := agentOf(t, "agent: {can_exit_loop: true, output_schema: "+text+"}")
		const want = `{"properties":{"a":{"enum":[1,16,1000,9007199254740993,true,null,"2026-01-02","yes"]},"b":{"maximum":1.5}},"title":"T","type":"object"}`
		if got := schemaOf(t, blobstore.Memory(), *a.Tree); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	for _, text := range []string{"agent: {name: a}", "agent: {name: a, output_schema: }"} {
		if a := agentOf(t, text); !a.Tree.OutputSchema.IsZero() {
			t.Errorf("%s: schema %+v", text, a.Tree.OutputSchema)
		}
	}
	if got := schemaOf(t, blobstore.Memory(), *agentOf(t, "agent: {output_schema: {}}").Tree); got != "{}" {
		t.Errorf("an empty schema: %q", got)
	}
}

func TestALargeOutputSchemaGoesToTheStore(t *testing.T) {
	store := blobstore.Memory()
	tree := func(nodes, size int) *contract.Node {
		text := "agent:\n  type: sequential\n  agents:\n"
		for i := range nodes {
			text += "    - {name: n" + strings.Repeat("x", i) + ", output_schema: {title: " + strings.Repeat("t", size) + "}}\n"
		}
		n, err := parse(t, text).Tree(t.Context(), store)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := tree(1, 500).Nodes[0]; n.OutputSchema.Blob != nil {
		t.Errorf("a small one is in the store: %+v", n.OutputSchema)
	}
	for name, n := range map[string]contract.Node{"a large one": tree(1, 20_000).Nodes[0], "one of many": tree(100, 500).Nodes[99]} {
		if n.OutputSchema.Blob == nil || !strings.HasPrefix(schemaOf(t, store, n), `{"title":"ttt`) {
			t.Errorf("%s: %+v", name, n.OutputSchema)
		}
	}
	c := parse(t, "agent: {name: a, output_schema: {title: "+strings.Repeat("t", 20_000)+"}}")
	if _, err := c.Tree(t.Context(), brokenStore{}); err == nil || !strings.HasPrefix(err.Error(), "keep the output_schema of a: ") {
		t.Errorf("a full disk gave %v", err)
	}
}

func TestChangedModelsOrLimitsMakeAnotherAgent(t *testing.T) {
	const base = "llm: {model: a}\nmodels: {a: {provider: google, model: g, fallback: [b, c]}, b: {provider: google, model: g}, c: {provider: google, model: g}}\n"
	first := agentOf(t, base).Hash()
	for range 20 {
		if agentOf(t, base).Hash() != first {
			t.Fatal("the same file gave two agents")
		}
	}
	for _, changed := range []string{strings.Replace(base, "[b, c]", "[c, b]", 1), base + "limits: {turn: {calls: 1}}"} {
		if agentOf(t, changed).Hash() == first {
			t.Errorf("the same agent from %s", changed)
		}
	}
}
