// Package programtest lets tests of a command run it as a program of its own: the binary of the tests is
// started again, and runs the command instead of the tests.
//
//	func TestMain(m *testing.M) { programtest.Main(m, command.Main) }
//
//	cmd := programtest.Command(t, "--stdio")
//	programtest.Refuses(t, cmd, "no such file")
package programtest

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asProgram is set in the environment of a binary of tests that is to run the command.
const asProgram = "TEST_AS_PROGRAM"

// Main runs the command if Command has started the process, and the tests otherwise. It does not return.
func Main(m *testing.M, main func()) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Command returns the program with arguments, in a new folder. Its environment has nothing of that of the tests, such
// as keys; it makes the log text, and spares the race detector's delay of one second at the end of a process.
func Command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = []string{asProgram + "=1", "GORACE=atexit_sleep_ms=0", "LOG_FORMAT=text"}
	cmd.Dir = t.TempDir()
	return cmd
}

// Refuses checks that a command ends with exit status 1, the message on stderr, and nothing on stdout.
func Refuses(t *testing.T, cmd *exec.Cmd, message string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), message) || stdout.Len() > 0 {
		t.Errorf("%q: %v, stdout %q, stderr %q; want %q", cmd.Args[1:], err, &stdout, &stderr, message)
	}
}

// Helps checks that --help names all texts, such as flags and keys.
func Helps(t *testing.T, texts ...string) {
	t.Helper()
	out, err := Command(t, "--help").Output()
	if err != nil {
		t.Error(err)
	}
	for _, text := range texts {
		if !strings.Contains(string(out), text) {
			t.Errorf("no %s in %s", text, out)
		}
	}
}

// Initialize is the beginning of a session over stdio, whose further lines follow it.
const Initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
