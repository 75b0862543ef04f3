package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProblemsNameMissingVariables(t *testing.T) {
	const free = ", which is not set in the environment; set it, or use another model: demo:rules (--demo-if-no-key) or ollama:MODEL needs no key"
	const text = `
llm:
  model: fast
models:
  fast: {provider: google, model: g, headers: {X-Team: "${TEAM}"}}
  idle: {provider: google, model: g, headers: {X-Team: "${IDLE}"}}
mcp_servers:
  - name: files
    url: http://localhost/mcp
    headers:
      Authorization: "Bearer ${FILES_TOKEN}"
  - {name: own, command: own, env: {A: "${ONE} ${TWO} ${ONE}", B: plain}}
a2a:
  - {name: b, url: "http://b", headers: {X-Key: "${KEY_B}"}}
push: {signing_key: "${SIGN}"}
events: {redis: "${REDIS_URL}"}
`
	tests := map[string]struct {
		text   string
		getenv func(string) string
		want   []string
	}{
		"nothing is set": {text, env(), []string{
			"agent.yaml:3: llm.model: the model fast (google:g) needs GEMINI_API_KEY" + free,
			"agent.yaml:5: models.fast.headers.X-Team: ${TEAM} is not set in the environment",
			"agent.yaml:11: mcp_servers[0].headers.Authorization: ${FILES_TOKEN} is not set in the environment",
			"agent.yaml:12: mcp_servers[1].env.A: ${ONE} is not set in the environment",
			"agent.yaml:12: mcp_servers[1].env.A: ${TWO} is not set in the environment",
			"agent.yaml:14: a2a[0].headers.X-Key: ${KEY_B} is not set in the environment",
			"agent.yaml:15: push.signing_key: ${SIGN} is not set in the environment",
			"agent.yaml:16: events.redis: ${REDIS_URL} is not set in the environment",
		}},
		"all is set":        {text, func(string) string { return "x" }, nil},
		"the default model": {"name: a", env(), []string{"agent.yaml: llm.model: the model google:gemini-2.5-flash needs GEMINI_API_KEY" + free}},
		"a node's model": {"\nagent:\n  type: sequential\n  agents:\n    - name: a\n      model: o3", env(), []string{
			"agent.yaml:6: agent.agents[0].model: the model o3 needs OPENAI_API_KEY" + free,
		}},
		"a model that others stand in for": {"llm: {model: fast}\nmodels: {fast: {provider: google, model: g, fallback: ['demo:rules']}}", env(), nil},
		"a model without a key":            {"llm: {model: 'ollama:x'}", env(), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range parse(t, tt.text).Problems(tt.getenv) {
				got = append(got, p.Error())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
