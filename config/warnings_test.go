package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// warned is a file and its warnings.
type warned struct {
	text string
	want []string
}

func testWarnings(t *testing.T, tests map[string]warned) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, parse(t, tt.text).Warnings()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Warnings about placeholders that keep their text, or are empty.
const (
	unknownKey = "stays as it is: no node has this output_key"
	laterKey   = "is empty: no node with this output_key can have finished before this one"
)

func TestWarningsOfBranchesThatSetOneKey(t *testing.T) {
	testWarnings(t, map[string]warned{
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
	})
}

func TestWarningsOfPlaceholders(t *testing.T) {
	testWarnings(t, map[string]warned{
		"a key that no node sets": {`
agent:
  type: sequential
  agents:
    - {name: a, prompt: "{x} {user_message} { y } {z}", output_key: o}
    - {name: b, prompt: "{o}"}
`, []string{"agent.yaml:5: agent.agents[0].prompt: {x} " + unknownKey, "agent.yaml:5: agent.agents[0].prompt: {z} " + unknownKey}},
		"a single node": {"agent: {name: a, prompt: '{x}', output_key: x}", []string{"agent.yaml:1: agent.prompt: {x} " + laterKey}},
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
			"agent.yaml:6: agent.agents[0].prompt: {later} " + laterKey,
			"agent.yaml:7: agent.agents[1].prompt: {later} " + laterKey,
			"agent.yaml:12: agent.agents[2].agents[1].prompt: {one} " + laterKey,
			"agent.yaml:13: agent.agents[3].prompt: {whole} " + laterKey,
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
`, []string{"agent.yaml:9: agent.agents[0].agents[0].prompt: {all} " + laterKey, "agent.yaml:9: agent.agents[0].agents[0].prompt: {after} " + laterKey}},
		"no tree": {"prompt: '{x}'", nil},
	})
}

func TestWarningsOfToolsOfNodes(t *testing.T) {
	testWarnings(t, map[string]warned{
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
	})
}

func TestWarningsOfFieldsOfOutputs(t *testing.T) {
	without := func(text string) string {
		return `agent.yaml:23: agent.agents[3].prompt: {` + text + `} is empty: the output_schema of "a" has no such property`
	}
	testWarnings(t, map[string]warned{
		"fields of outputs": {`
agent:
  type: sequential
  agents:
    - name: a
      output_key: a
      output_schema:
        properties:
          title: {type: string}
          deep: {properties: {er: {properties: {x: {}}}}}
          list: {type: array, items: {properties: {y: {}}}}
          ref: {$ref: "#/$defs/r"}
          round: {$ref: "#/properties/round"}
          any: {additionalProperties: true}
          rest: {additionalProperties: {properties: {z: {}}}}
          none: {additionalProperties: false}
          some: {oneOf: [{type: string}]}
          "no": false
        $defs: {r: {properties: {w: {}}}}
    - {name: b, output_key: b}
    - name: c
      prompt: "{a} {a.title} {a.deep.er.x} {a.list.0.y} {a.ref.w} {a.round.x} {a.any.x} {a.rest.x} {a.some.x} {a.} {.a} {a..b} {a.-}"
    - {name: d, prompt: "{a.titel} {a.title.x} {a.deep.x} {a.list.y} {a.list.0.x} {a.ref.x} {a.none.x} {a.no} {a.titel}"}
    - {name: e, prompt: "{b} {b.title} {user_message.x} {x.y} {f.z}", output_key: e}
    - {name: f, output_key: f}
`, []string{
			without("a.titel"), without("a.title.x"), without("a.deep.x"), without("a.list.y"), without("a.list.0.x"), without("a.ref.x"),
			without("a.none.x"), without("a.no"),
			`agent.yaml:24: agent.agents[4].prompt: {b.title} is empty: the output of "b" is text, unless it happens to be JSON; an output_schema makes it so`,
			`agent.yaml:24: agent.agents[4].prompt: {user_message.x} is empty: the user's message is text, unless it happens to be JSON`,
			"agent.yaml:24: agent.agents[4].prompt: {x.y} " + unknownKey, "agent.yaml:24: agent.agents[4].prompt: {f.z} " + laterKey,
		}},
		"fields of objects and lists of any kind": {`
agent:
  type: sequential
  agents:
    - name: a
      output_key: a
      output_schema: {properties: {free: {type: object}, maybe: {type: [object, "null"]}, bag: {type: array}, text: {type: string}, any: {}}}
    - {name: b, prompt: "{a.free.x} {a.maybe.x} {a.bag.0} {a.any.x} {a.text.x} {a.bag.x}"}
`, []string{
			`agent.yaml:8: agent.agents[1].prompt: {a.text.x} is empty: the output_schema of "a" has no such property`,
			`agent.yaml:8: agent.agents[1].prompt: {a.bag.x} is empty: the output_schema of "a" has no such property`,
		}},
		"fields that one of several nodes with the key has": {`
agent:
  type: loop
  agents:
    - {name: a, output_key: k, output_schema: {properties: {x: {}}}}
    - {name: b, output_key: k, output_schema: {properties: {y: {}}}}
    - {name: c, output_key: k}
    - {name: d, prompt: "{k.x} {k.y} {k.z}"}
`, []string{`agent.yaml:8: agent.agents[3].prompt: {k.z} is empty: the output_schema of "a" and of "b" has no such property`}},
	})
}

func TestWarningsOfModelsAndCosts(t *testing.T) {
	testWarnings(t, map[string]warned{
		"slips of names of models": {`
llm: {model: fast}
models:
  fast: {provider: google, model: g, fallback: [slow, "openai:x"]}
  slow: {provider: google, model: g, enabled: false}
  openai-x: {provider: google, model: g}
agent:
  type: sequential
  agents:
    - {name: a, model: claude-y}
    - {name: b, model: claude-x}
    - {name: c, model: openai-y}
    - {name: d, model: "openai:x"}
    - {name: e, model: fast}
    - {name: f, model: openai-x}
    - {name: g, model: gemini-2.5-pro}
`, []string{
			`agent.yaml:4: models.fast.fallback[0]: "slow" is disabled and left out`,
			`agent.yaml:12: agent.agents[2].model: "openai-y" is no name in models, so it is the model openai:y; did you mean openai-x?`,
		}},
		"no models, no slips": {"llm: {model: gpt-4o}", nil},
		"costs without prices": {`
models:
  paid: {provider: google, model: g, price: {input: 1, output: 1}, fallback: [free, "openai:x"]}
  free: {provider: ollama, model: m, price: {}}
  none: {provider: ollama, model: m}
  idle: {provider: ollama, model: m}
limits:
  turn: {calls: 1}
  conversation:
    cost: 1
agent:
  type: sequential
  agents: [{name: a, model: paid}, {name: b, model: none}, {name: c, model: "demo:rules"}, {name: d, model: none}]
`, []string{
			"agent.yaml:10: limits.conversation.cost: the model none (ollama:m) has no price; its calls count as free",
			"agent.yaml:10: limits.conversation.cost: the model openai:x has no price; its calls count as free",
		}},
		"costs of a turn and of a conversation": {"limits:\n  turn: {cost: 1}\n  conversation: {cost: 1}", []string{
			"agent.yaml:2: limits.turn.cost: the model google:gemini-2.5-flash has no price; its calls count as free",
		}},
		"no limit of cost": {"limits: {turn: {tokens: 1}}", nil},
	})
}

func TestWarningsOfAddresses(t *testing.T) {
	const open = "whoever reaches this address can start conversations, read them and approve calls: nobody has to log in; 127.0.0.1 keeps the agent on this machine"
	testWarnings(t, map[string]warned{
		"an agent that others reach": {"host: 0.0.0.0\nauth: none", []string{"agent.yaml:1: host: " + open}},
		"an agent on one address":    {"host: 192.168.1.2\nauth: none", []string{"agent.yaml:1: host: " + open}},
		"an agent under a name":      {"host: box.example\nauth: none", []string{"agent.yaml:1: host: " + open}},
		"an agent with keys":         {"host: 0.0.0.0\nauth: [{type: keys}]", nil},
		"a proxy on this machine": {"auth: [{type: keys}, {type: proxy, from: [10.0.0.1, 127.0.0.1], header: X-Subject}]", []string{
			"agent.yaml:1: auth[1].from: every program of this machine, also a tool server, can write X-Subject and be anybody"}},
		"an agent on this machine": {"host: '::1'", nil},
		"an agent without a host":  {"name: a", nil},
		"web hooks here, from anyone": {"host: 0.0.0.0\npush: {allow_private: true}\nauth: none", []string{
			"agent.yaml:1: host: " + open,
			"agent.yaml:2: push.allow_private: whoever reaches the agent can have it send requests to this machine and its network",
		}},
		"web hooks here, from outside": {"host: 127.0.0.1\npublic_url: https://a.example\npush: {allow_private: true}", []string{
			"agent.yaml:3: push.allow_private: whoever reaches the agent can have it send requests to this machine and its network",
		}},
		"web hooks of this machine, from anyone": {"host: 0.0.0.0\npush: {allow_loopback: true}\nauth: none", []string{
			"agent.yaml:1: host: " + open,
			"agent.yaml:2: push.allow_loopback: whoever reaches the agent can have it send requests to this machine",
		}},
		"web hooks of this machine alone": {"push: {allow_loopback: true}", nil},
		"web hooks of this machine":       {"host: 127.0.0.1\npush: {allow_private: true}", nil},
		"web hooks of localhost":          {"host: localhost\npush: {allow_private: true}", nil},
	})
}

func TestDescribeEndsWithTheWarnings(t *testing.T) {
	got := describe(t, parse(t, "agent: {name: a, prompt: '{x} {y}'}\nhost: localhost"), env())
	want := "\n\nWarning: agent.yaml:1: agent.prompt: {x} stays as it is: no node has this output_key\n" +
		"Warning: agent.yaml:1: agent.prompt: {y} stays as it is: no node has this output_key\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s", got)
	}
}
