package main_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	command "agent-stop-and-go/mcpservers/cmd/mcp-web"
	"agent-stop-and-go/mcpservers/hosting/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m, command.Main) }

func TestStdioAnswers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"results":[{"title":"Found","url":"https://example.com/","content":""}]}`))
	}))
	defer s.Close()
	cmd := programtest.Command(t, "--stdio", "--search", "searxng="+s.URL)
	cmd.Stdin = strings.NewReader(programtest.Initialize +
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
		programtest.Refuses(t, programtest.Command(t, args...), want)
	}
}

func TestHelpNamesEveryFlagAndKey(t *testing.T) {
	programtest.Helps(t, "--config", "--search", "--private-host", "--host", "--port", "--transport", "--stdio", "--version", "LOG_LEVEL", "max_page", "timeout", "user_agent", "private_hosts", "key_env", "depth")
}
