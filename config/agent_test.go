package config_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

func TestASingleAgentComesFromTheTopOfTheFile(t *testing.T) {
	c := parse(t, "name: a\ndescription: d\nprompt: p\nllm: {model: claude-x}\nmax_tool_rounds: 3\nexecution: lean\napproval: {timeout: 5m, call_as: approver}\n")
	got, err := c.Agent(t.Context(), blobstore.Memory())
	if err != nil {
		t.Fatal(err)
	}
	want := contract.Agent{
		Name: "a", Description: "d", Prompt: contract.Inline("p"), Model: "claude-x",
		MaxToolRounds: 3, Execution: contract.ExecutionLean, ApprovalTimeout: 5 * time.Minute, CallAs: contract.CallAsApprover,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASingleNodeTakesPrecedenceOverTheTopOfTheFile(t *testing.T) {
	const top = "name: a\nprompt: p\ndescription: d\nllm: {model: claude-x}\n"
	tests := map[string]struct {
		node string
		want contract.Agent
	}{
		"all its own": {
			"agent: {type: llm, name: n, prompt: q, model: openai:y, description: e}",
			contract.Agent{Name: "n", Node: "n", Prompt: contract.Inline("q"), Model: "openai:y", Description: "e"},
		},
		"nothing of its own": {
			"agent: {type: llm}",
			contract.Agent{Name: "a", Node: "a", Prompt: contract.Inline("p"), Model: "claude-x", Description: "d"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parse(t, top+tt.node).Agent(t.Context(), blobstore.Memory())
			if err != nil {
				t.Fatal(err)
			}
			tt.want.MaxToolRounds, tt.want.Execution = 10, contract.ExecutionAuto
			tt.want.Tree = got.Tree // see TestASingleNodeFallsBackOnTheFile
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

type brokenStore struct{ transcript.Store }

var errFull = errors.New("disk full")

func (brokenStore) Put(context.Context, []byte) (contract.Blob, error) {
	return contract.Blob{}, errFull
}

func TestALongPromptGoesToTheStore(t *testing.T) {
	c := config.Default()
	c.Prompt.Text = strings.Repeat("Be good. ", 10_000)
	store := blobstore.Memory()
	a, err := c.Agent(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	if a.Prompt.Blob == nil || store.Len() != 1 {
		t.Fatalf("prompt %+v, %d values in the store", a.Prompt, store.Len())
	}
	if got, err := transcript.ReadText(t.Context(), store, a.Prompt); err != nil || got != c.Prompt.Text {
		t.Errorf("read back %d bytes, %v", len(got), err)
	}
	if _, err := c.Agent(t.Context(), brokenStore{}); !errors.Is(err, errFull) {
		t.Errorf("a full disk gave %v", err)
	}
}

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(key string) string { return m[key] }
}

func TestKeysMissingNamesModelsAndVariables(t *testing.T) {
	const entries = `
models:
  fast: {provider: google, model: gemini-2.5-flash, fallback: [team, "openai:gpt-4o"]}
  team: {provider: compatible, model: llama, base_url: "http://x", api_key_env: TEAM_KEY, fallback: [ghost]}
  free: {provider: compatible, model: llama, base_url: "http://x"}
  ghost: {provider: anthropic, model: claude-x}
  local: {provider: ollama, model: llama, api_key_env: LOCAL_KEY}
  old: {provider: mistral, model: m, enabled: false}
  last: {provider: anthropic, model: claude-x, fallback: [old]}
`
	const (
		stuck  = ", which is not set; it cannot be called until it is"
		spared = ", which is not set; others are asked in its place until it is"
	)
	tests := map[string]struct {
		text   string
		getenv func(string) string
		want   []string
	}{
		"default":                {"", env(), []string{"model google:gemini-2.5-flash needs GEMINI_API_KEY" + stuck}},
		"blank":                  {"", env("GEMINI_API_KEY", " "), []string{"model google:gemini-2.5-flash needs GEMINI_API_KEY" + stuck}},
		"set":                    {"", env("GEMINI_API_KEY", "k"), nil},
		"another is set":         {"llm: {model: claude-x}", env("GEMINI_API_KEY", "k"), []string{"model claude-x needs ANTHROPIC_API_KEY" + stuck}},
		"of a lone node":         {"agent: {model: openai:x}", env(), []string{"model openai:x needs OPENAI_API_KEY" + stuck}},
		"of no llm node":         {"agent: {type: a2a, url: 'http://x'}", env(), nil},
		"needs none":             {"llm: {model: ollama:x}", env(), nil},
		"demo":                   {"llm: {model: demo:rules}", env(), nil},
		"entry that is not used": {entries + "llm: {model: free}", env(), nil},
		"a variable of its own":  {entries + "llm: {model: local}", env(), []string{"model local (ollama:llama) needs LOCAL_KEY" + stuck}},
		"all of several nodes, each model once": {
			"agent: {type: loop, agents: [{name: a}, {name: b, model: openai:x}, {name: c, model: ollama:x}, {name: d, model: openai:x}]}", env(),
			[]string{"model google:gemini-2.5-flash needs GEMINI_API_KEY" + stuck, "model openai:x needs OPENAI_API_KEY" + stuck},
		},
		"no fallback has its key": {entries + "llm: {model: fast}", env(), []string{
			"model fast (google:gemini-2.5-flash) needs GEMINI_API_KEY" + stuck, "model team (compatible:llama) needs TEAM_KEY" + stuck,
			"model openai:gpt-4o needs OPENAI_API_KEY" + stuck,
		}},
		"a fallback has its key": {entries + "llm: {model: fast}", env("OPENAI_API_KEY", "k"), []string{
			"model fast (google:gemini-2.5-flash) needs GEMINI_API_KEY" + spared, "model team (compatible:llama) needs TEAM_KEY" + spared,
		}},
		"only a fallback lacks it": {entries + "llm: {model: fast}", env("GEMINI_API_KEY", "k", "TEAM_KEY", "k"), []string{
			"model openai:gpt-4o needs OPENAI_API_KEY" + spared,
		}},
		"a disabled fallback is none": {entries + "llm: {model: last}", env("MISTRAL_API_KEY", "k"), []string{
			"model last (anthropic:claude-x) needs ANTHROPIC_API_KEY" + stuck,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, k := range parse(t, tt.text).KeysMissing(tt.getenv) {
				got = append(got, k.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUseModelReachesEveryNode(t *testing.T) {
	c := parse(t, "agent: {type: loop, agents: [{name: a, model: claude-x}, {name: b, type: sequential, agents: [{name: c, model: openai:x}, {name: d}]}]}")
	if c.Model() != contract.DefaultModel {
		t.Errorf("model of the tree: %s", c.Model())
	}
	c.UseModel(contract.DemoModel)
	tree, err := c.Tree(t.Context(), blobstore.Memory())
	if err != nil {
		t.Fatal(err)
	}
	inner := tree.Nodes[1].Nodes
	for _, n := range []contract.Node{tree.Nodes[0], inner[0], inner[1]} {
		if n.Model != contract.DemoModel {
			t.Errorf("%s has the model %q", n.Name, n.Model)
		}
	}
	if err := c.Validate(); err != nil || c.Model() != contract.DemoModel {
		t.Errorf("%s, %v", c.Model(), err)
	}
}

func TestTheDefaultBlobFolderIsInTheDataDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my data % ?")
	c := config.Default()
	c.DataDir = dir
	store, err := blobstore.Open(t.Context(), c.BlobURL())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	b, err := store.Put(t.Context(), []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "my data*", "blobs", b.SHA256[:2], b.SHA256[2:])); len(found) != 1 {
		t.Errorf("files: %v", found)
	}
	c.Blobs.URL = "mem://"
	if c.BlobURL() != "mem://" {
		t.Errorf("got %s", c.BlobURL())
	}
}
