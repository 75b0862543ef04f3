package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWarnings(t *testing.T) {
	const (
		unknown = "stays as it is: no node has this output_key"
		later   = "stays as it is: no node with this output_key can have finished before this one"
	)
	tests := map[string]struct {
		text string
		want []string
	}{
		"two branches set one key": {`
agent:
  name: p
  type: parallel
  agents:
    - {name: a, output_key: x}
    - name: b
      type: sequential
      agents:
        - {name: c, output_key: x}
        - {name: d, output_key: y}
`, []string{`agent.yaml:10: agent.agents[1].agents[0].output_key: "x" is also set in agent.yaml:6, by another branch of "p"; the branch that is declared last wins`}},
		"one branch, or one after the other, may": {`
agent:
  type: sequential
  agents:
    - {name: a, output_key: x}
    - name: p
      type: parallel
      agents:
        - {name: c, type: sequential, agents: [{name: d, output_key: x}, {name: e, output_key: x}]}
        - {name: f}
`, nil},
		"branches far apart": {`
agent:
  name: p
  type: parallel
  agents:
    - {name: l, type: loop, agents: [{name: q, type: parallel, agents: [{name: a, output_key: x}, {name: b, output_key: y}]}]}
    - {name: m, type: loop, agents: [{name: r, type: parallel, agents: [{name: c, output_key: y}, {name: d, output_key: z}]}]}
`, []string{`agent.yaml:7: agent.agents[1].agents[0].agents[0].output_key: "y" is also set in agent.yaml:6, by another branch of "p"; the branch that is declared last wins`}},
		"a key that nobody sets": {`
agent:
  type: sequential
  agents:
    - {name: a, prompt: "{x} {user_message} { y } {z}", output_key: o}
    - {name: b, prompt: "{o}"}
`, []string{"agent.yaml:5: agent.agents[0].prompt: {x} " + unknown, "agent.yaml:5: agent.agents[0].prompt: {z} " + unknown}},
		"a single node": {"agent: {name: a, prompt: '{x}', output_key: x}", []string{"agent.yaml:1: agent.prompt: {x} " + later}},
		"a key that is set later, beside or by itself": {`
agent:
  type: sequential
  output_key: whole
  agents:
    - {name: a, prompt: "{later}"}
    - {name: b, output_key: later, prompt: "{later}"}
    - name: p
      type: parallel
      agents:
        - {name: c, output_key: one, prompt: "{later}"}
        - {name: d, output_key: two, prompt: "{one}"}
    - {name: e, prompt: "{one} {two} {whole}"}
`, []string{
			"agent.yaml:6: agent.agents[0].prompt: {later} " + later,
			"agent.yaml:7: agent.agents[1].prompt: {later} " + later,
			"agent.yaml:12: agent.agents[2].agents[1].prompt: {one} " + later,
			"agent.yaml:13: agent.agents[3].prompt: {whole} " + later,
		}},
		"anything in a loop may come from the iteration before": {`
agent:
  type: sequential
  agents:
    - name: l
      type: loop
      output_key: all
      agents:
        - {name: a, prompt: "{a} {b} {c} {p} {all} {after}", output_key: a}
        - {name: p, type: parallel, output_key: p, agents: [{name: b, output_key: b, prompt: "{c}"}, {name: c, output_key: c}]}
    - {name: d, prompt: "{a} {c} {all}", output_key: after}
`, []string{"agent.yaml:9: agent.agents[0].agents[0].prompt: {all} " + later, "agent.yaml:9: agent.agents[0].agents[0].prompt: {after} " + later}},
		"exit_loop without a loop": {`
agent:
  type: sequential
  agents:
    - {name: a, can_exit_loop: true}
    - {name: b, can_exit_loop: false}
    - {name: l, type: loop, agents: [{name: p, type: parallel, agents: [{name: c, can_exit_loop: true}]}]}
`, []string{"agent.yaml:5: agent.agents[0].can_exit_loop: no loop is around this node; exit_loop ends every sequence around it"}},
		"delegations that do not ask": {`
agent:
  type: sequential
  agents:
    - name: p
      type: parallel
      agents:
        - {name: a, type: a2a, url: "http://a", destructiveHint: true}
        - {name: b, type: a2a, url: "http://b", destructiveHint: true, approval: required}
        - {name: c, type: a2a, url: "http://c"}
        - name: d
          a2a:
            - {name: e, url: "http://e"}
            - {name: f, url: "http://f", destructiveHint: true}
    - {name: l, type: loop, approval: required, agents: [{name: g, a2a: [{name: f, url: "http://f", destructiveHint: true}]}]}
    - {name: h, type: a2a, url: "http://h", destructiveHint: true}
`, []string{
			`agent.yaml:8: agent.agents[0].agents[0].destructiveHint: runs without asking, being inside the parallel node "p"; approval: required makes it wait for a person`,
			`agent.yaml:14: agent.agents[0].agents[3].a2a[1].destructiveHint: runs without asking, being inside the parallel node "p"; approval: required makes it wait for a person`,
		}},
		"tools that may or may not be there": {"agent: {tools: [x]}", nil},
		"no tree":                            {"prompt: '{x}'", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, parse(t, tt.text).Warnings()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDescribeEndsWithTheWarnings(t *testing.T) {
	got := describe(t, parse(t, "agent: {name: a, prompt: '{x} {y}'}"), env())
	want := "\n\nWarning: agent.yaml:1: agent.prompt: {x} stays as it is: no node has this output_key\n" +
		"Warning: agent.yaml:1: agent.prompt: {y} stays as it is: no node has this output_key\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s", got)
	}
}
