package main_test

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	command "agent-stop-and-go/mcpservers/drive/cmd/mcp-drive"
	"agent-stop-and-go/mcpservers/drive/google/drivetest"
	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/hosting/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m, command.Main) }

func TestStdioAnswersAndEndsWithItsInput(t *testing.T) {
	for address, remembers := range map[string]bool{"--path=files": false, "--bucket=mem://": true} {
		cmd := programtest.Command(t, "--stdio", address)
		cmd.Stdin = strings.NewReader(programtest.Initialize +
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"create_file","arguments":{"name":"a.txt","content":"x"}}}` + "\n")
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), "Created 'a.txt' — id: a.txt") || strings.Contains(string(out), hosting.IdempotencyCapability) != remembers {
			t.Errorf("%s: %v: %s", address, err, out)
		}
	}
}

// The key file is the one that Google's own programs read.
func TestGoogleDriveWithAServiceAccount(t *testing.T) {
	at := drivetest.New()
	s := httptest.NewServer(at)
	defer s.Close()
	folder := at.Folder("Reports", drivetest.Root)
	at.Text("a.txt", folder, "a line to find")
	key, err := drivetest.KeyFile(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"key.json": string(key), "drive.yaml": "google: {folder: " + folder + ", endpoint: '" + s.URL + "'}\nread_only: true\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := programtest.Command(t, "--stdio", "--config", "drive.yaml")
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "GOOGLE_APPLICATION_CREDENTIALS=key.json")
	cmd.Stdin = strings.NewReader(programtest.Initialize + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_files","arguments":{}}}` + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `file \"a.txt\", 14 bytes`) || !strings.Contains(string(out), `Google Drive`) || strings.Contains(stderr.String(), "ya29.") {
		t.Errorf("%v: %s%s", err, out, &stderr)
	}
}

func TestMistakesEndTheProgramWithAMessage(t *testing.T) {
	for want, args := range map[string][]string{
		"no folder":              nil,
		"exclude each other":     {"--path", "x", "--bucket", "mem://"},
		"must begin with one of": {"--bucket", "file:///etc"},
		"no credentials":         {"--google", "1test_file_id-000001"},
		"no such file":           {"--google", "1test_file_id-000001", "--key-file", "missing.json"},
		"delete \"x\" is unkn":   {"--path", "x", "--delete", "x"},
		"port 70000 is out":      {"--path", "x", "--port", "70000"},
		"read config":            {"--config", "missing.yaml"},
	} {
		programtest.Refuses(t, programtest.Command(t, args...), want)
	}
}

func TestHelpNamesEveryFlagAndKey(t *testing.T) {
	programtest.Helps(t, "--config", "--path", "--bucket", "--google", "--key-file", "--read-only", "--delete", "--host", "--port", "--transport", "--stdio", "--version", "LOG_LEVEL",
		"max_read", "max_write", "max_file", "max_list", "timeout", "subject", "login", "client_ids", "google.endpoint", "read_only")
}
