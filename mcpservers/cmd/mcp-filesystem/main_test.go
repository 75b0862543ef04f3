package main_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	command "agent-stop-and-go/mcpservers/cmd/mcp-filesystem"
	"agent-stop-and-go/mcpservers/hosting/programtest"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestMain(m *testing.M) { programtest.Main(m, command.Main) }

// program prepares a command in a new folder with the root work and a config file.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := programtest.Command(t, args...)
	must(t, os.Mkdir(filepath.Join(cmd.Dir, "work"), 0o755))
	must(t, os.WriteFile(filepath.Join(cmd.Dir, "f.yaml"), []byte("port: 1\nroots: [{name: work, path: work, allowed_tools: ['*']}]\n"), 0o600))
	return cmd
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestStdioAnswersAndEndsWithItsInput(t *testing.T) {
	cmd := program(t, "--stdio", "--config", "f.yaml")
	cmd.Stdin = strings.NewReader(programtest.Initialize +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write_file","arguments":{"root":"work","path":"a","content":""}}}` + "\n")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"name":"mcp-filesystem","version":"1.0.0"`) || !strings.Contains(string(out), `{\"mode\":\"overwrite\",\"path\":\"a\",\"size\":0}`) {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "work", "a")); err != nil {
		t.Error(err)
	}
}

func TestHTTPServesUntilSIGTERM(t *testing.T) {
	cmd := program(t, "--config", "f.yaml", "--port", "0")
	pipe, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	log := bufio.NewReader(pipe)
	line, err := log.ReadString('\n')
	must(t, err)
	go io.Copy(io.Discard, log)
	url := regexp.MustCompile(`url=(\S+)/mcp`).FindStringSubmatch(line)[1]
	c, err := client.NewStreamableHttpClient(url + "/mcp")
	must(t, err)
	defer c.Close()
	must(t, c.Start(t.Context()))
	var initialize mcp.InitializeRequest
	initialize.Params.ProtocolVersion = "2025-11-25"
	initialize.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	_, err = c.Initialize(t.Context(), initialize)
	must(t, err)
	var call mcp.CallToolRequest
	call.Params.Name = "write_file"
	call.Params.Arguments = map[string]any{"root": "work", "path": "big", "content": strings.Repeat("\n", 5<<20)}
	result, err := c.CallTool(t.Context(), call)
	if err != nil || result.IsError {
		t.Fatalf("%+v %v", result, err)
	}
	response, err := http.Get(url + "/health")
	must(t, err)
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("health: %s", response.Status)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	must(t, cmd.Wait())
}

func TestMistakesEndTheProgramWithAMessage(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	must(t, os.WriteFile(broken, []byte("port: 1\nfoo: 2\n"), 0o600))
	for want, args := range map[string][]string{
		"--config is required":      nil,
		"port 70000 is out":         {"--config", "f.yaml", "--port", "70000"},
		"line 2: unknown key":       {"--config", broken},
		"no such file":              {"--config", "missing.yaml"},
		"-nope (see --help)":        {"--nope"},
		`unexpected argument "out"`: {"--config", "f.yaml", "out"},
	} {
		programtest.Refuses(t, program(t, args...), want)
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	programtest.Helps(t, "--config", "--host", "--port", "--transport", "--stdio", "--version", "LOG_LEVEL", "roots:", "remove_folder")
}
