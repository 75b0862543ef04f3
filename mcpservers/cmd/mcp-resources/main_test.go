package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	command "agent-stop-and-go/mcpservers/cmd/mcp-resources"
	"agent-stop-and-go/mcpservers/hosting/programtest"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestMain(m *testing.M) { programtest.Main(m, command.Main) }

func handshake(t *testing.T, c *client.Client) *client.Client {
	t.Helper()
	t.Cleanup(func() { c.Close() })
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var request mcp.InitializeRequest
	request.Params.ProtocolVersion = "2025-11-25"
	request.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	return c
}

// call returns the text of a result that must not be an error.
func call(t *testing.T, c *client.Client, tool, key string, args map[string]any) string {
	t.Helper()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, args
	if key != "" {
		request.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{"agent-stop-and-go/idempotency-key": key}}
	}
	result, err := c.CallTool(t.Context(), request)
	if err != nil {
		t.Errorf("%s: %v", tool, err)
		return ""
	}
	text := result.Content[0].(mcp.TextContent).Text
	if result.IsError {
		t.Errorf("%s refused: %s", tool, text)
	}
	return text
}

func TestTwoProcessesShareOneFile(t *testing.T) {
	db := filepath.Join(t.TempDir(), "data", "r.db")
	clients := make([]*client.Client, 2)
	var group sync.WaitGroup
	for i := range clients { // both create the file at the same time
		c, err := client.NewStdioMCPClient(os.Args[0], programtest.Command(t).Env, "--stdio", "--db", db)
		if err != nil {
			t.Fatal(err)
		}
		clients[i] = c
	}
	for _, c := range clients {
		handshake(t, c)
	}
	keyed := make([]string, 2)
	for i, c := range clients {
		for j := range 20 {
			group.Go(func() { call(t, c, "resources_add", "", map[string]any{"name": fmt.Sprint("r", i, j), "value": j}) })
		}
		group.Go(func() { keyed[i] = call(t, c, "resources_add", "k", map[string]any{"name": "once", "value": 1}) })
	}
	group.Wait()
	if got := call(t, clients[0], "resources_list", "", nil); !strings.Contains(got, `"count": 41`) {
		t.Errorf("got %s", got)
	}
	if keyed[0] != keyed[1] {
		t.Errorf("one key gave %s and %s", keyed[0], keyed[1])
	}
}

func TestStdioAnswersWhatItReadAndEndsWithItsInput(t *testing.T) {
	cmd := programtest.Command(t, "--stdio")
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"resources_add","arguments":{"name":"a","value":1}}}` +
		"\nnot json\n" + `{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"no_such_tool"}}`) // no line end
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text := string(out)
	for _, want := range []string{`"id":1,"result"`, `-32700`, `"id":"two","error":{"code":-32602`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if n := strings.Count(text, "\n"); n != 3 {
		t.Errorf("%d lines on stdout: %s", n, text)
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "data", "resources.db")); err != nil {
		t.Error(err)
	}
}

func TestStdioEndsOnSIGTERM(t *testing.T) {
	cmd := programtest.Command(t, "--transport", "stdio")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, start(t, cmd), "serving on stdio")
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestHTTPServesUntilSIGTERMWithAStreamOpen(t *testing.T) {
	cmd := programtest.Command(t, "--port", "0", "--db", "r.db")
	stderr := start(t, cmd)
	line := waitFor(t, stderr, "listening")
	go io.Copy(io.Discard, stderr)
	url := regexp.MustCompile(`url=(\S+)/mcp`).FindStringSubmatch(line)[1]
	c, err := client.NewStreamableHttpClient(url + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	handshake(t, c)
	call(t, c, "resources_add", "", map[string]any{"name": "a", "value": 1})
	r, _ := http.NewRequestWithContext(t.Context(), "GET", url+"/mcp", nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", c.GetSessionId())
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if stream.StatusCode != http.StatusOK {
		t.Errorf("stream: %s", stream.Status)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAClientWithTheTokenContinuesAfterARestart(t *testing.T) {
	dir, port := t.TempDir(), "0"
	launch := func() (*exec.Cmd, string) {
		cmd := programtest.Command(t, "--port", port, "--auth-token-env", "RESOURCES_TOKEN")
		cmd.Dir, cmd.Env = dir, append(cmd.Env, "RESOURCES_TOKEN=secret")
		stderr := start(t, cmd)
		url := regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(waitFor(t, stderr, "listening"))[1]
		go io.Copy(io.Discard, stderr)
		return cmd, url
	}
	first, url := launch()
	c, err := client.NewStreamableHttpClient(url, transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer secret"}))
	if err != nil {
		t.Fatal(err)
	}
	handshake(t, c)
	call(t, c, "resources_add", "", map[string]any{"name": "a", "value": 1})
	if response, err := http.Post(url, "application/json", strings.NewReader("{}")); err != nil || response.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %v, %v", response, err)
	}
	_ = first.Process.Kill() // without a graceful shutdown
	_ = first.Wait()
	_, port, _ = net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp"))
	launch()
	if got := call(t, c, "resources_list", "", nil); !strings.Contains(got, `"count": 1`) {
		t.Errorf("got %s", got)
	}
}

func start(t *testing.T, cmd *exec.Cmd) *bufio.Reader {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	cmd.Stderr = writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	return bufio.NewReader(reader)
}

func waitFor(t *testing.T, log *bufio.Reader, text string) string {
	t.Helper()
	for {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("program ended before %q: %s", text, line)
		}
		if strings.Contains(line, text) {
			return line
		}
	}
}

func TestMistakesEndTheProgramWithAMessage(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	config := filepath.Join(t.TempDir(), "r.yaml")
	if err := os.WriteFile(config, []byte("port: 1\nfoo: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"the port is taken":                             {"--port", port},
		"port 70000 is out of range":                    {"--port", "70000"},
		"line 2: unknown key":                           {"--config", config},
		"no such file":                                  {"--config", "missing.yaml"},
		"-nope (see --help)":                            {"--nope"},
		`unexpected argument "stdio"`:                   {"stdio"},
		"use http, sse or stdio":                        {"--transport", "pigeon"},
		"variable NO_SUCH_TOKEN is empty":               {"--auth-token-env", "NO_SUCH_TOKEN"},
		"create directory of database /dev/null/x/r.db": {"--stdio", "--db", "/dev/null/x/r.db"},
	} {
		programtest.Refuses(t, programtest.Command(t, args...), want)
	}
}

func TestFlagsWinOverTheConfigFile(t *testing.T) {
	cmd := programtest.Command(t, "--config", "r.yaml", "--db", "mine.db", "--port", "0")
	if err := os.WriteFile(filepath.Join(cmd.Dir, "r.yaml"), []byte("host: 127.0.0.2\nport: 1\ndb_path: theirs.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	line := waitFor(t, start(t, cmd), "listening")
	if !strings.Contains(line, "url=http://127.0.0.2:") || !strings.Contains(line, "db=mine.db") {
		t.Errorf("got %s", line)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	programtest.Helps(t, "--config", "--db", "--host", "--port", "--stdio", "--version", "--transport", "--auth-token-env", "LOG_LEVEL")
}
