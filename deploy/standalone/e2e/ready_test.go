package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// An agent that is not ready prints its problems with its addresses, and reports later that it
// is ready.
func TestAnAgentSaysWhatIsMissingUntilItIsReady(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	port := freePort(t)
	h.also = []string{fmt.Sprintf(`{name: late, url: "http://127.0.0.1:%d/mcp"}`, port)}
	api, agent := h.outside()
	const missing = "tester is up, but not ready yet:\n  - tool server late is not ready: "
	if out := agent.out.String(); !contains(out, missing) || !contains(out, api.base) || contains(out, "is ready after") {
		t.Errorf("while a server is missing:\n%s", out)
	}
	if r := api.do("GET", "/health/ready", ""); r.Status != http.StatusServiceUnavailable {
		t.Errorf("readiness: %d %s", r.Status, r.Raw)
	}
	start(t, t.TempDir(), "mcp-resources", nil, "--port", fmt.Sprint(port))
	eventually(t, "the agent says that it is ready", func() bool { return contains(agent.out.String(), "\ntester is ready after ") })
	api.want(http.StatusOK, "GET", "/health/ready", "")
}

func TestWhatCannotWorkIsAProblemWithItsRemedy(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.more = map[string]string{"OPENAI_API_KEY": ""}
	h.also = []string{
		fmt.Sprintf("{name: twin, url: %q}", h.tools.URL),
		`{name: files, command: mcp-filesystem, env: {TOKEN: "${FILES_TOKEN}"}}`,
	}
	api, agent := h.outside()
	ready := api.do("GET", "/health/ready", "")
	for _, problem := range []string{
		"model openai:test-model needs OPENAI_API_KEY, which is not set",
		`MCP servers \"counting\" and \"twin\" have tools of the same name (`,
		"set prefix: true on one of them, or name them in tools.deny of one",
		"tool server files is not ready: env: not set in the environment: [FILES_TOKEN]",
	} {
		if ready.Status != http.StatusServiceUnavailable || !contains(ready.Raw, problem) {
			t.Errorf("no %q in %d %s", problem, ready.Status, ready.Raw)
		}
		if out := agent.out.String(); !contains(out, "  - "+strings.ReplaceAll(problem, `\"`, `"`)) && !contains(problem, "set prefix") {
			t.Errorf("no %q in\n%s", problem, out)
		}
	}
	for _, warning := range []string{`level=WARN msg="model openai:test-model needs`, `level=WARN msg="MCP servers \"counting\" and \"twin\"`, "FILES_TOKEN"} {
		eventually(t, "the log has "+warning, func() bool { return contains(agent.out.String(), warning) })
	}
}

// A decision is logged as one line, also if the process that requested it has died.
func TestADecisionIsOneLineOfTheLog(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, agent := h.outside()
	asked := api.ask(`call note_add {"name":"apple"}`)
	agent.kill()
	api, agent = h.outside()
	uuid := asked.Result.Approval.UUID
	api.decide(uuid, `{"approved":true,"by":"alice","reason":"words of hers"}`)
	line := fmt.Sprintf(`level=INFO msg="approval decided" uuid=%s conversation=%s agent=tester tool=note_add server=counting decision=approved by=alice via=rest reason=true sid=%s caller="" trace=""`,
		uuid, asked.Conversation.ID, asked.Conversation.SessionID)
	if out := agent.out.String(); strings.Count(out, line+"\n") != 1 || strings.Count(out, "approval decided") != 1 || contains(out, "words of hers") {
		t.Errorf("the log:\n%s", out)
	}
	agent.kill()
	api, agent = h.outside()
	api.say(asked.Conversation.ID, "still there?")
	if out := agent.out.String(); contains(out, "approval decided") {
		t.Errorf("the decision is logged again:\n%s", out)
	}
}
