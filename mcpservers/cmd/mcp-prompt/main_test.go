package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	command "agent-stop-and-go/mcpservers/cmd/mcp-prompt"
)

const asProgram = "MCP_PROMPT_TEST_AS_PROGRAM"

// TestMain runs the program instead of the tests if a test started the binary as the program.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		command.Main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = []string{asProgram + "=1", "GORACE=atexit_sleep_ms=0", "LOG_FORMAT=text"}
	cmd.Dir = t.TempDir()
	return cmd
}

func TestStdioAnswers(t *testing.T) {
	cmd := program(t, "--stdio", "--directory", "p")
	if err := os.Mkdir(filepath.Join(cmd.Dir, "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cmd.Dir, "p", "index.md"), []byte("You help."), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"prompt://system"}}` + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"text":"You help.\n"`) || !strings.Contains(stderr.String(), "directory=p") {
		t.Errorf("%v: %s%s", err, out, &stderr)
	}
}

func TestMistakesEndTheProgramWithAMessage(t *testing.T) {
	for want, args := range map[string][]string{
		"the directory p is missing: make it, with the beginning of the prompt in index.md": {"--directory", "p"},
		"index.md: the file index.md is missing":                                            {"--directory", "."},
		"versions 1 must be 2 to 10000":                                                     {"--versions", "1"},
		"no such file":                                                                      {"--config", "missing.yaml"},
		"directory is empty":                                                                {"--directory", ""},
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
	for _, text := range []string{"--config", "--directory", "--versions", "--host", "--port", "--transport", "--stdio", "--version", "LOG_LEVEL"} {
		if err != nil || !strings.Contains(string(out), text) {
			t.Errorf("%v: no %s in %s", err, text, out)
		}
	}
}
