package main_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	command "agent-stop-and-go/mcpservers/cmd/mcp-openapi"
)

const asProgram = "MCP_OPENAPI_TEST_AS_PROGRAM"

// TestMain runs the program instead of the tests if a test started the binary as the program.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		command.Main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// program prepares a command, with no key in its environment.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = []string{asProgram + "=1", "GORACE=atexit_sleep_ms=0", "LOG_FORMAT=text"}
	cmd.Dir = t.TempDir()
	return cmd
}

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
	cmd := program(t, "--stdio", "--api", api, "--base-url", s.URL, "--exclude-operation", "start*")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
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
		cmd := program(t, args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%v: %v, stdout %q, stderr %q", args, err, &stdout, &stderr)
		}
	}
}

func TestHelpNamesEveryFlagAndKey(t *testing.T) {
	out, err := program(t, "--help").Output()
	for _, text := range []string{"--config", "--api", "--base-url", "--credential", "--read-only", "--tag", "--operation", "--path", "--exclude-tag", "--host", "--port", "--transport", "--stdio", "--version", "LOG_LEVEL",
		"max_tools", "max_response", "timeout", "base_url", "include", "exclude", "credentials", "x-mcp"} {
		if err != nil || !strings.Contains(string(out), text) {
			t.Errorf("%v: no %s in %s", err, text, out)
		}
	}
}
