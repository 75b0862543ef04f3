package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	command "agent-stop-and-go/mcpservers/cmd/mcp-prompt"
	"agent-stop-and-go/mcpservers/hosting/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m, command.Main) }

func TestStdioAnswers(t *testing.T) {
	cmd := programtest.Command(t, "--stdio", "--directory", "p")
	if err := os.Mkdir(filepath.Join(cmd.Dir, "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cmd.Dir, "p", "index.md"), []byte("You help."), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = strings.NewReader(programtest.Initialize +
		`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"prompt://system"}}` + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"text":"You help.\n"`) || !strings.Contains(stderr.String(), "directory=p") {
		t.Errorf("%v: %s%s", err, out, &stderr)
	}
}

func TestAPromptIsMadeIfThereIsNone(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"You help.", "You do not."} {
		server := programtest.Serve(t, dir, "--directory", "new/p", "--create", text)
		if got := reading(t, server); got.Text != "You help.\n" {
			t.Errorf("%q", got.Text)
		}
		server.Kill()
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
		programtest.Refuses(t, programtest.Command(t, args...), want)
	}
}

func TestHelpNamesEveryFlagAndKey(t *testing.T) {
	programtest.Helps(t, "--config", "--directory", "--create", "--versions", "--host", "--port", "--transport", "--stdio", "--version", "LOG_LEVEL")
}
