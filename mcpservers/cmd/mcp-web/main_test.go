package main_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	command "agent-stop-and-go/mcpservers/cmd/mcp-web"
)

const asProgram = "MCP_WEB_TEST_AS_PROGRAM"

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
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"results":[{"title":"Found","url":"https://example.com/","content":""}]}`))
	}))
	defer s.Close()
	cmd := program(t, "--stdio", "--search", "searxng="+s.URL)
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"x"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"extract","arguments":{"url":"` + s.URL + `"}}}` + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `1. Found\n   https://example.com/`) || !strings.Contains(string(out), "is not an address of the Internet") || !strings.Contains(stderr.String(), "provider=searxng") {
		t.Errorf("%v: %s%s", err, out, &stderr)
	}
}

func TestMistakesEndTheProgramWithAMessage(t *testing.T) {
	for want, args := range map[string][]string{
		`provider "bing" is unknown`:              {"--search", "bing"},
		"TAVILY_API_KEY is empty":                 {"--search", "tavily"},
		"SEARXNG_URL":                             {"--search", "searxng"},
		"no name, address or network":             {"--private-host", "http://x"},
		"no such file":                            {"--config", "missing.yaml"},
		"port 70000 is out":                       {"--port", "70000"},
		"url of searxng must be http://HOST or h": {"--search", "searxng=x"},
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
	for _, text := range []string{"--config", "--search", "--private-host", "--host", "--port", "--transport", "--stdio", "--version", "LOG_LEVEL", "max_page", "timeout", "user_agent", "private_hosts", "key_env", "depth"} {
		if err != nil || !strings.Contains(string(out), text) {
			t.Errorf("%v: no %s in %s", err, text, out)
		}
	}
}
