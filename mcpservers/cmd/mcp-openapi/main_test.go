package main_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	command "agent-stop-and-go/mcpservers/cmd/mcp-openapi"
	"agent-stop-and-go/mcpservers/hosting/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m, command.Main) }

func TestStdioAnswers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"limit":"` + r.FormValue("limit") + `"}`))
	}))
	defer s.Close()
	api, err := filepath.Abs("../../../config/examples/openapi/agent-api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cmd := programtest.Command(t, "--stdio", "--api", api, "--base-url", s.URL, "--exclude-operation", "start*")
	cmd.Stdin = strings.NewReader(programtest.Initialize +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_conversations","arguments":{"limit":7}}}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}` + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `{\"limit\":\"7\"}`) || !strings.Contains(string(out), `"name":"health"`) || strings.Contains(string(out), "start_conversation") ||
		strings.Contains(string(out), "send_message") || !strings.Contains(stderr.String(), "operations=2") {
		t.Errorf("%v: %s%s", err, out, &stderr)
	}
}

func TestMistakesEndTheProgramWithAMessage(t *testing.T) {
	for want, args := range map[string][]string{
		"no API":                  nil,
		"no such file":            {"--api", "missing.yaml"},
		"write SCHEME=VARIABLE":   {"--api", "x.yaml", "--credential", "x"},
		"base_url must be":        {"--api", "x.yaml", "--base-url", "x"},
		"port 70000 is out":       {"--api", "x.yaml", "--port", "70000"},
		"unexpected argument":     {"--api", "x.yaml", "y.yaml"},
		"connection refused":      {"--api", "http://127.0.0.1:1/openapi.json"},
		"the pattern \"[\" is ma": {"--api", "x.yaml", "--path", "["},
	} {
		programtest.Refuses(t, programtest.Command(t, args...), want)
	}
}

func TestHelpNamesEveryFlagAndKey(t *testing.T) {
	programtest.Helps(t, "--config", "--api", "--base-url", "--credential", "--read-only", "--tag", "--operation", "--path", "--exclude-tag", "--host", "--port", "--transport", "--stdio", "--version", "LOG_LEVEL",
		"max_tools", "max_response", "timeout", "base_url", "include", "exclude", "credentials", "x-mcp")
}
