package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

func tree(t *testing.T, text string) *contract.Node {
	t.Helper()
	n, err := parse(t, text).Tree(t.Context(), blobstore.Memory())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTheTreeHasAllDefaultsResolved(t *testing.T) {
	got := tree(t, `
name: shop
prompt: not for nodes
max_tool_rounds: 7
llm: {model: claude-x}
a2a: [{name: top, url: "http://top"}]
agent:
  type: sequential
  description: All of it.
  output_key: all
  on_reject: continue
  timeout: 5m
  agents:
    - name: l
      type: loop
      max_iterations: 3
      agents:
        - name: a
          model: openai:y
          prompt: "{b} {user_message} {nobody} {b}"
          history: true
          tools: []
          max_tool_rounds: 2
          can_exit_loop: true
          on_reject: stop
          a2a: [{name: p, url: "http://p", description: Does p., destructiveHint: true, context: conversation}]
        - {name: b, output_key: b, tools: [x]}
    - name: p2
      type: parallel
      fail_fast: true
      approval: required
      agents:
        - {name: c, type: a2a, url: "http://c", prompt: "Do {all}.", description: Does c., destructiveHint: true, context: call, output_key: c}
        - {name: d, type: a2a, url: "http://d"}
    - {name: e, prompt: "{c} and {b}, {all}"}
`)
	want := &contract.Node{
		Name: "shop", Type: contract.NodeSequential, Description: "All of it.", OutputKey: "all",
		OnReject: contract.OnRejectContinue, Timeout: 5 * time.Minute,
		Nodes: []contract.Node{
			{Name: "l", Type: contract.NodeLoop, MaxIterations: 3, Nodes: []contract.Node{
				{
					Name: "a", Type: contract.NodeLLM, Model: "openai:y", MaxToolRounds: 2, History: true, Tools: []string{},
					Prompt: contract.Inline("{b} {user_message} {nobody} {b}"), Keys: []string{"b", "user_message"},
					CanExitLoop: true, SkipApproval: true,
					Peers: []contract.Peer{{Name: "p", URL: "http://p", Description: "Does p.", Destructive: true, Context: "conversation"}},
				},
				{Name: "b", Type: contract.NodeLLM, Model: "claude-x", MaxToolRounds: 7, OutputKey: "b", Tools: []string{"x"}, SkipApproval: true},
			}},
			{Name: "p2", Type: contract.NodeParallel, FailFast: true, Nodes: []contract.Node{
				{
					Name: "c", Type: contract.NodeA2A, Description: "Does c.", OutputKey: "c",
					Prompt: contract.Inline("Do {all}."), Keys: []string{"all"},
					Peer: &contract.Peer{Name: "c", URL: "http://c", Description: "Does c.", Destructive: true},
				},
				{Name: "d", Type: contract.NodeA2A, Peer: &contract.Peer{Name: "d", URL: "http://d"}},
			}},
			{
				Name: "e", Type: contract.NodeLLM, Model: "claude-x", MaxToolRounds: 7,
				Prompt: contract.Inline("{c} and {b}, {all}"), Keys: []string{"c", "b", "all"}, Expects: []string{"c", "b"},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASingleNodeFallsBackOnTheFile(t *testing.T) {
	const top = "name: a\nprompt: p {user_message}\nmax_tool_rounds: 4\nllm: {model: claude-x}\na2a: [{name: top, url: 'http://top'}]\n"
	peers := func(name string) []contract.Peer { return []contract.Peer{{Name: name, URL: "http://" + name}} }
	tests := map[string]struct {
		node string
		want contract.Node
	}{
		"nothing of its own": {"agent: {history: false}", contract.Node{
			Name: "a", Prompt: contract.Inline("p {user_message}"), Keys: []string{"user_message"},
			Model: "claude-x", MaxToolRounds: 4, Peers: peers("top"),
		}},
		"all its own": {"agent: {name: n, prompt: q, model: demo:rules, max_tool_rounds: 2, a2a: [{name: own, url: 'http://own'}]}", contract.Node{
			Name: "n", Prompt: contract.Inline("q"), Model: "demo:rules", MaxToolRounds: 2, Peers: peers("own"),
		}},
		"an empty list of agents is its own": {"agent: {prompt: q, a2a: []}", contract.Node{
			Name: "a", Prompt: contract.Inline("q"), Model: "claude-x", MaxToolRounds: 4,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.want.Type, tt.want.History = contract.NodeLLM, true
			if diff := cmp.Diff(&tt.want, tree(t, top+tt.node)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := tree(t, top); got != nil {
		t.Errorf("a file without a tree has %+v", got)
	}
}

func TestACompositeAgentHasTheSettingsOfTheFile(t *testing.T) {
	c := parse(t, "name: a\ndescription: d\nprompt: p\nllm: {model: claude-x}\nmax_tool_rounds: 3\nagent: {name: r, type: loop, description: e, agents: [{name: n, prompt: q}]}")
	got, err := c.Agent(t.Context(), blobstore.Memory())
	if err != nil {
		t.Fatal(err)
	}
	want := contract.Agent{
		Name: "a", Description: "d", Prompt: contract.Inline("p"), Model: "claude-x", MaxToolRounds: 3, Execution: contract.ExecutionAuto,
		Tree: &contract.Node{Name: "r", Type: contract.NodeLoop, Description: "e", Nodes: []contract.Node{{
			Name: "n", Type: contract.NodeLLM, Prompt: contract.Inline("q"), Model: "claude-x", MaxToolRounds: 3, SkipApproval: true,
		}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNodesThatRunDestructiveCallsWithoutApproval(t *testing.T) {
	const servers = "mcp_servers: [{name: s, command: x}]\n"
	tests := map[string]struct {
		text string
		want []config.AutoRunNode
	}{
		"a single node":             {servers + "agent: {name: a}", nil},
		"a sequence":                {servers + "agent: {type: sequential, agents: [{name: a}]}", nil},
		"a branch":                  {servers + "agent: {type: parallel, agents: [{name: a}]}", []config.AutoRunNode{{Name: "a"}}},
		"a loop":                    {servers + "agent: {type: loop, agents: [{name: a, tools: [s, t]}]}", []config.AutoRunNode{{Name: "a", Tools: []string{"s", "t"}}}},
		"a sequence in a branch":    {servers + "agent: {type: parallel, agents: [{name: q, type: sequential, agents: [{name: a}]}]}", []config.AutoRunNode{{Name: "a"}}},
		"held":                      {servers + "agent: {type: parallel, agents: [{name: a, approval: required}, {name: b}]}", []config.AutoRunNode{{Name: "b"}}},
		"held by the parallel node": {servers + "agent: {type: parallel, approval: required, agents: [{name: a}]}", nil},
		"held by the root":          {servers + "agent: {type: sequential, approval: required, agents: [{name: p, type: loop, agents: [{name: a, approval: inherit}]}]}", nil},
		"behind the parallel node":  {servers + "agent: {type: sequential, agents: [{name: p, type: parallel, agents: [{name: a}]}, {name: b}]}", []config.AutoRunNode{{Name: "a"}}},
		"no tools":                  {servers + "agent: {type: loop, agents: [{name: a, tools: []}]}", nil},
		"no servers":                {"agent: {type: loop, agents: [{name: a}]}", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, parse(t, tt.text).AutoRunNodes()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// manyNodes is a tree of 1,000 nodes with prompts of about size bytes.
func manyNodes(size int) string {
	var b strings.Builder
	b.WriteString("agent:\n  name: root\n  type: sequential\n  agents:\n")
	for i := range 999 {
		fmt.Fprintf(&b, "  - {name: node-%d, output_key: k%d, prompt: 'Do {k%d} %s'}\n", i, i, i, strings.Repeat("x", size))
	}
	return b.String()
}

func TestALargeTreeKeepsItsPromptsInTheStore(t *testing.T) {
	c := parse(t, manyNodes(800))
	store := blobstore.Memory()
	n, err := c.Tree(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 300<<10 {
		t.Errorf("the tree has %d bytes", len(data))
	}
	last := n.Nodes[998]
	if last.Prompt.Blob == nil || last.Prompt.Blob.Preview != "" || len(last.Keys) != 1 {
		t.Fatalf("the last node is %+v", last)
	}
	if text, err := transcript.ReadText(t.Context(), store, last.Prompt); err != nil || text != c.Root.Agents[998].Prompt {
		t.Errorf("read back %d bytes, %v", len(text), err)
	}
}

func TestShortPromptsStayInTheTree(t *testing.T) {
	n := tree(t, manyNodes(50))
	if got := n.Nodes[0].Prompt; got.Blob != nil || !strings.HasPrefix(got.Inline, "Do {k0} xxx") {
		t.Errorf("prompt %+v", got)
	}
	small := tree(t, "agent: {type: loop, agents: [{name: a, prompt: "+strings.Repeat("x", 2000)+"}]}")
	if got := small.Nodes[0].Prompt; got.Blob != nil {
		t.Errorf("a small tree has its prompt elsewhere: %+v", got)
	}
}

func TestATreeNeedsAWorkingStore(t *testing.T) {
	for name, text := range map[string]string{
		"one long prompt":   "agent: {type: loop, agents: [{name: node-0, prompt: " + strings.Repeat("x", 5000) + "}]}",
		"many short enough": manyNodes(300),
	} {
		_, err := parse(t, text).Agent(t.Context(), brokenStore{})
		if !errors.Is(err, errFull) || !strings.Contains(err.Error(), "node-0") {
			t.Errorf("%s: a full disk gave %v", name, err)
		}
	}
}
