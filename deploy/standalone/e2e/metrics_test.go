package e2e_test

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/telemetry"
)

// prometheusOn makes the home's agent serve metrics, and returns their URL.
func (h *home) prometheusOn() string {
	h.t.Helper()
	port := strconv.Itoa(freePort(h.t))
	h.more = map[string]string{"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_PROMETHEUS_PORT": port}
	return "http://localhost:" + port + "/metrics"
}

func scrape(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var helpLine = regexp.MustCompile(`(?m)^# HELP (\S+) `)

func TestAnAgentServesTheMetricsOfTheTable(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	url := h.prometheusOn()
	api, agent := h.outside()
	asked := api.ask(`call note_add {"name":"secret-fruit"}`)
	waiting := `agent_approvals_open{agent_approval_reason="destructive",gen_ai_agent_name="tester",`
	eventually(t, "the open approval", func() bool { return strings.Contains(scrape(t, url), waiting) })
	api.decide(asked.Result.Approval.UUID, `{"approved":true,"by":"alice"}`)
	text := scrape(t, url)
	for _, want := range []string{
		`agent_approval_duration_seconds_count{agent_approval_decision="approved",agent_approval_reason="destructive",gen_ai_agent_name="tester",`,
		`gen_ai_execute_tool_duration_seconds_count{agent_tool_server="counting",gen_ai_operation_name="execute_tool",gen_ai_tool_name="note_add",`,
		`gen_ai_client_token_usage_count{gen_ai_operation_name="chat",gen_ai_provider_name="openai",`,
		`agent_turns_total{agent_outcome="done",gen_ai_agent_name="tester",`, "agent_workflows_stuck{", "agent_survey_failed{", "temporal_request_total{",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	var known []string
	for _, m := range telemetry.Table() {
		known = append(known, strings.ReplaceAll(m.Name, ".", "_"))
	}
	for _, m := range helpLine.FindAllStringSubmatch(text, -1) {
		name := m[1]
		if strings.HasPrefix(name, "temporal_") || strings.HasPrefix(name, "promhttp_") || name == "target_info" {
			continue
		}
		if !slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(name, k) }) {
			t.Errorf("%s is not in the table", name)
		}
	}
	for _, private := range []string{"secret-fruit", "alice", asked.Conversation.ID, canaryKey} {
		if contains(text, private) {
			t.Errorf("metrics have %s", private)
		}
	}
	agent.kill()
	api, _ = h.outside()
	api.conversation(asked.Conversation.ID) // replays it
	if text := scrape(t, url); strings.Contains(text, "agent_turns_total{") || strings.Contains(text, "agent_approval_duration_seconds_count{") {
		t.Error("a replay counts again")
	}
}
