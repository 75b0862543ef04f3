package main_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/hosting/programtest"
	command "agent-stop-and-go/mcpservers/sql/cmd/mcp-sql"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestMain(m *testing.M) { programtest.Main(m, command.Main) }

// program prepares a command in a folder.
func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := programtest.Command(t, args...)
	cmd.Dir = dir
	return cmd
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestStdioAnswersAndEndsWithItsInput(t *testing.T) {
	cmd := program(t, t.TempDir(), "--stdio", "--sqlite", "data/notes.db")
	cmd.Stdin = strings.NewReader(programtest.Initialize +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute","arguments":{"sql":"CREATE TABLE t (x)"}}}` + "\n")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), hosting.IdempotencyCapability) || !strings.Contains(string(out), "OK — rows affected: 0") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestMistakesEndTheProgramWithAMessage(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return name
	}
	for want, args := range map[string][]string{
		"no databases: list them":                   nil,
		"unknown key \"foo\", allowed: name, engin": {"--config", write("key.yaml", "databases: [{foo: 1}]\n")},
		`engine "oracle" is unknown`:                {"--config", write("engine.yaml", "databases: [{name: a, engine: oracle}]\n")},
		"open the SQLite file: stat":                {"--config", write("file.yaml", "databases: [{name: a, engine: sqlite, path: missing.db}]\n")},
		"NO_SUCH_VARIABLE is empty":                 {"--config", write("env.yaml", "databases: [{name: a, engine: postgres, read_env: NO_SUCH_VARIABLE}]\n")},
		"file is not a database":                    {"--sqlite", write("text.db", strings.Repeat("no database ", 100))},
		"port 70000 is out":                         {"--sqlite", "a.db", "--port", "70000"},
		`class "session" cannot be executed`:        {"--config", write("class.yaml", "databases: [{name: a, engine: sqlite, path: a.db, write: true, execute: [session]}]\n")},
		"execute and dry_run need write":            {"--config", write("dry.yaml", "databases: [{name: a, engine: sqlite, path: a.db, dry_run: true}]\n")},
	} {
		programtest.Refuses(t, program(t, dir, args...), want)
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	programtest.Helps(t, "--config", "--sqlite", "--host", "--port", "--transport", "--stdio", "--version", "LOG_LEVEL", "databases:", "dry_run", "max_rows")
}

// running is a server that listens.
type running struct {
	cmd *exec.Cmd
	*client.Client
}

func start(t *testing.T, dir string, args ...string) *running {
	t.Helper()
	cmd := program(t, dir, append(args, "--port", "0")...)
	pipe, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	log := bufio.NewReader(pipe)
	line, err := log.ReadString('\n')
	must(t, err)
	go io.Copy(io.Discard, log)
	c, err := client.NewStreamableHttpClient(regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(line)[1])
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	must(t, c.Start(t.Context()))
	var initialize mcp.InitializeRequest
	initialize.Params.ProtocolVersion = "2025-11-25"
	_, err = c.Initialize(t.Context(), initialize)
	must(t, err)
	return &running{cmd, c}
}

func (r *running) call(ctx context.Context, tool, key, sql string) (string, error) {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, map[string]any{"sql": sql}
	if key != "" {
		request.Params.Meta = &mcp.Meta{AdditionalFields: map[string]any{hosting.IdempotencyKey: key}}
	}
	result, err := r.CallTool(ctx, request)
	if err != nil {
		return "", err
	}
	return result.Content[0].(mcp.TextContent).Text, nil
}

// A process that is killed during a change leaves all of it or nothing, and the call with the
// same key makes it once.
func TestAKilledChangeIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir, "--sqlite", "a.db")
	if text, err := first.call(t.Context(), "execute", "", "CREATE TABLE t (x)"); err != nil || !strings.HasPrefix(text, "OK") {
		t.Fatal(text, err)
	}
	const rows = 30_000
	insert := fmt.Sprintf("INSERT INTO t WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < %d) SELECT x FROM n", rows)
	server := first
	for i := range 6 {
		key := fmt.Sprintf("key-%d", i)
		answered := make(chan error, 1)
		go func() {
			_, err := server.call(t.Context(), "execute", key, insert)
			answered <- err
		}()
		select { // the kills spread over the time of the change, and beyond it
		case <-answered:
		case <-time.After(time.Duration(i*15) * time.Millisecond):
		}
		must(t, server.cmd.Process.Kill())
		_ = server.cmd.Wait()
		server = start(t, dir, "--sqlite", "a.db")
		for range 2 {
			if text, err := server.call(t.Context(), "execute", key, insert); err != nil || text != fmt.Sprintf("OK — rows affected: %d", rows) {
				t.Errorf("%d: %q %v", i, text, err)
			}
		}
		if text, err := server.call(t.Context(), "query", "", "SELECT count(*), sum(x = 1) FROM t"); err != nil || !strings.HasSuffix(text, fmt.Sprintf("\n%d | %d", (i+1)*rows, i+1)) {
			t.Errorf("%d: %q %v", i, text, err)
		}
	}
}
