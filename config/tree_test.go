package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/config"
)

// deepTree returns a file whose tree is depth nodes deep.
func deepTree(depth int) string {
	var b strings.Builder
	b.WriteString("agent:\n")
	for i := range depth - 1 {
		indent := strings.Repeat(" ", 2*i+2)
		fmt.Fprintf(&b, "%sname: n%d\n%stype: sequential\n%sagents:\n%s-\n", indent, i, indent, indent, indent)
	}
	fmt.Fprintf(&b, "%sname: leaf\n", strings.Repeat(" ", 2*depth))
	return b.String()
}

func TestATreeMayBe32NodesDeep(t *testing.T) {
	for _, depth := range []int{1, 20, 32} {
		n := parse(t, deepTree(depth)).Root
		for range depth - 1 {
			n = n.Agents[0]
		}
		if n.Name != "leaf" {
			t.Errorf("depth %d: found %q", depth, n.Name)
		}
	}
	for _, depth := range []int{33, 50, 60} {
		_, err := config.Parse("f.yaml", []byte(deepTree(depth)))
		if err == nil || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), "agent: the tree is more than 32 nodes deep here") {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
}

func TestAThousandNodesWithEveryKeyLoadAtOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString("agent:\n  name: root\n  type: sequential\n  agents:\n")
	for i := range 999 {
		fmt.Fprintf(&b, "  - {name: n%d, type: llm, description: d, model: claude-x, prompt: 'Do {k%d}', history: true, tools: [a, b], "+
			"max_tool_rounds: 3, can_exit_loop: false, output_key: k%d, approval: required, on_reject: stop, timeout: 1m, "+
			"a2a: [{name: p, url: 'http://p', description: d, destructiveHint: true}]}\n", i, i, i)
	}
	start := time.Now()
	c := parse(t, b.String())
	if len(c.Root.Agents) != 999 {
		t.Fatalf("%d nodes", len(c.Root.Agents))
	}
	if n := len(c.Warnings()); n != 999 { // each prompt names its own output
		t.Errorf("%d warnings", n)
	}
	if d := time.Since(start); d > 2*time.Minute {
		t.Errorf("took %s", d)
	}
}

func branches(n int) string {
	return "agent:\n  name: root\n  type: parallel\n  agents:" + func() (s string) {
		for i := range n {
			s += fmt.Sprintf("\n  - name: n%d", i)
		}
		return s
	}()
}

func TestAParallelNodeHasAtMost64Branches(t *testing.T) {
	parse(t, branches(64))
	parse(t, strings.Replace(branches(65), "parallel", "sequential", 1))
	_, err := config.Parse("f.yaml", []byte(branches(65)))
	want := "f.yaml:4: agent.agents: 65 branches; a parallel node has at most 64: group them into parallel nodes inside this one, or split them over several in a sequence"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestNoToolsAreNotAllTools(t *testing.T) {
	tests := map[string]struct {
		text string
		null bool
		len  int
	}{
		"absent":         {"agent: {name: a}", true, 0},
		"without value":  {"agent:\n  name: a\n  tools:\n", true, 0},
		"only comments":  {"agent:\n  name: a\n  tools:\n    # - x\n", true, 0},
		"an empty list":  {"agent: {name: a, tools: []}", false, 0},
		"a list":         {"agent: {name: a, tools: [x, y]}", false, 2},
		"by an alias":    {"agent: {type: loop, agents: [{name: a, tools: &t []}, {name: b, tools: *t}]}", false, 0},
		"by a merge key": {"agent: {type: loop, agents: [&a {name: a, tools: []}, {<<: *a, name: b}]}", false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			n := parse(t, tt.text).Root
			if len(n.Agents) > 0 {
				n = n.Agents[1]
			}
			if (n.Tools == nil) != tt.null || len(n.Tools) != tt.len {
				t.Errorf("tools %#v", n.Tools)
			}
		})
	}
}

func TestKeysWithoutValueMeanTheDefault(t *testing.T) {
	c := parse(t, "agent:\n  name: a\n  history:\n  max_tool_rounds:\n  approval:\n  on_reject:\n  timeout:\n  tools:\n")
	n := c.Root
	if n.History || n.MaxToolRounds != 0 || n.Approval != config.ApprovalInherit || n.OnReject != config.OnRejectStop || n.Timeout != 0 || n.Tools != nil {
		t.Errorf("%+v", *n)
	}
}

func TestOneAgentMayBeNamedInSeveralNodes(t *testing.T) {
	parse(t, `
a2a: [{name: p, url: "http://p"}]
agent:
  type: parallel
  agents:
    - {name: a, a2a: &peers [{name: p, url: "http://p"}, {name: q, url: "http://q"}]}
    - {name: b, a2a: *peers}
    - {name: q, type: a2a, url: "http://q"}
`)
}
