package main_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	command "agent-stop-and-go/mcpservers/cmd/mcp-commands"
	"agent-stop-and-go/mcpservers/hosting/programtest"
)

func TestMain(m *testing.M) {
	programtest.Main(m, command.Main)
}

// program prepares a command in a new folder with the folder tools.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := programtest.Command(t, args...)
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"), "XDG_CONFIG_HOME="+cmd.Dir)
	write(t, cmd.Dir, "tools/greet.yaml", "name: greet-all\nshort: Greet\nflags:\n  - {name: who, type: stringList, required: true}\n  - {name: loud, type: bool}\n  - {name: n, type: int, default: 1}\ncommand: [echo, [hey, \"{loud}\"], \"{n}\", \"{who}\"]\nhints: {read-only: true}\n")
	write(t, cmd.Dir, "fail.yaml", "name: fail\nshort: Fail\ncommand: [\"false\"]\nhints: {destructive: false}\n")
	return cmd
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// says runs a command and compares its output, or the end of its errors.
func says(t *testing.T, cmd *exec.Cmd, want string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	got := stdout.String() + stderr.String()
	if cmd.ProcessState.ExitCode() != code || !strings.Contains(got, want) {
		t.Errorf("%q ended with %d, want %d and %q:\n%s", cmd.Args[1:], cmd.ProcessState.ExitCode(), code, want, got)
	}
}

func TestToolsRunWithoutAServer(t *testing.T) {
	says(t, program(t, "tools", "list", "--directories", "tools", "--files", "fail.yaml"), "greet-all                        read-only    Greet\n", 0)
	says(t, program(t, "tools", "run", "--directories", "tools", "--convert-dashes", "greet_all", "--who", "a b,c", "--loud", "--n=3"), "hey 3 a b c\n", 0)
	says(t, program(t, "server", "tools", "run", "--directories", "tools", "--json", `{"who":["x"]}`, "greet-all"), "1 x\n", 0)
	says(t, program(t, "tools", "run", "--files", "fail.yaml", "fail"), "exit status 1", 1)
	says(t, program(t, "tools", "run", "--directories", "tools", "greet-all", "--n", "x", "--who", "a"), "n: it must be a whole number", 1)
	says(t, program(t, "tools", "run", "--directories", "tools", "nope"), "there is no tool nope: there are greet-all", 1)
}

func TestMistakesEndTheProgramWithAMessage(t *testing.T) {
	for want, args := range map[string][]string{
		"a command is missing":              nil,
		"unknown command \"serve\"":         {"serve"},
		"there are no definitions":          {"server"},
		"no such file":                      {"server", "--directories", "missing"},
		"port 70000 is out":                 {"server", "--directories", "tools", "--port", "70000"},
		"-nope (see --help)":                {"server", "--nope"},
		"transport \"ftp\" is unknown":      {"server", "--directories", "tools", "--transport", "ftp"},
		"no profile is named":               {"server", "--config", "empty.yaml"},
		"profile q not found: there are p":  {"server", "--config", "p.yaml", "--profile", "q"},
		"convert needs one file":            {"convert"},
		"client needs":                      {"client"},
		"a server is missing":               {"client", "tools", "list"},
		"config show-profile: wrong number": {"config", "show-profile"},
	} {
		cmd := program(t, args...)
		write(t, cmd.Dir, "empty.yaml", "profiles: {p: {description: x}}\n")
		write(t, cmd.Dir, "p.yaml", "profiles: {p: {description: x}}\n")
		says(t, cmd, want, 1)
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	programtest.Helps(t, "--config", "--profile", "--directories", "--files", "--watch", "--convert-dashes", "--internal-servers", "--tracing-dir", "--debug", "--host", "--port", "--transport", "--stdio", "--version", "LOG_LEVEL", "duplicate-profile", "parallel", "defaultProfile", "whitelist", "blacklist", "overrides", "defaults", "session_idle")
}

func TestProfilesAreWrittenAndUsed(t *testing.T) {
	dir := ""
	for _, step := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"config", "list-profiles"}, "config init", 1},
		{[]string{"config", "init"}, "", 0},
		{[]string{"config", "init"}, "exists", 1},
		{[]string{"config", "add-profile", "work", "At work"}, "", 0},
		{[]string{"config", "add-profile", "work"}, "there is a profile work already", 1},
		{[]string{"config", "add-tool", "work", "--dir", "tools"}, "", 0},
		{[]string{"config", "add-tool", "none", "--dir", "tools"}, "profile none not found", 1},
		{[]string{"config", "duplicate-profile", "work", "play"}, "", 0},
		{[]string{"config", "add-tool", "play", "--file", "fail.yaml"}, "", 0},
		{[]string{"config", "set-default-profile", "play"}, "", 0},
		{[]string{"config", "list-profiles"}, "* play                     At work\n  work ", 0},
		{[]string{"config", "show-profile", "work"}, "/tools\n", 0},
		{[]string{"tools", "list"}, "fail                             writes       Fail\ngreet-all", 0},
		{[]string{"tools", "list", "--profile", "work"}, "greet-all", 0},
		{[]string{"client", "tools", "call", "greet-all", "--json", `{"who":["y"]}`, "--", os.Args[0], "server"}, "1 y\n", 0},
	} {
		cmd := program(t, step.args...)
		if dir == "" {
			dir = cmd.Dir
		}
		cmd.Dir = dir
		cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+dir)
		says(t, cmd, step.want, step.code)
	}
	elsewhere := program(t, "tools", "list", "--profile", "work")
	elsewhere.Env = append(elsewhere.Env, "XDG_CONFIG_HOME="+dir)
	says(t, elsewhere, "greet-all", 0)
}

func TestConvertWritesTheSafeForm(t *testing.T) {
	cmd := program(t, "convert", "-o", "new.yaml", "old.yaml")
	write(t, cmd.Dir, "old.yaml", "name: a\nshort: s\nflags: [{name: x, type: string, required: true}]\ncommand: [echo, \"{{ .Args.x }}\"]\n")
	says(t, cmd, "", 0)
	run := program(t, "tools", "run", "--files", "new.yaml", "a", "--x", "hello")
	run.Dir = cmd.Dir
	says(t, run, "hello\n", 0)
	refused := program(t, "server", "--files", "old.yaml")
	refused.Dir = cmd.Dir
	says(t, refused, `old.yaml:4: {{ .Args.x }}: a Go template would paste values into a command, where they can become code; "mcp-commands convert old.yaml"`, 1)
}

// listening starts a server over HTTP and returns its address.
func listening(t *testing.T, args ...string) string {
	t.Helper()
	prepared := program(t, args...)
	cmd := exec.Command(prepared.Path, args...) // outlives the context of the test, which ends before the clean-up
	cmd.Dir, cmd.Env = prepared.Dir, prepared.Env
	pipe, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	log := bufio.NewReader(pipe)
	for {
		line, err := log.ReadString('\n')
		must(t, err)
		if m := regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(line); m != nil {
			go io.Copy(io.Discard, log)
			return m[1]
		}
	}
}

func TestAnyServerIsBridged(t *testing.T) {
	url := listening(t, "server", "--directories", "tools", "--transport", "http", "--port", "0")
	says(t, program(t, "client", "tools", "call", "greet-all", "--json", `{"who":["a"]}`, "--", os.Args[0], "bridge", url), "1 a\n", 0)
	bridged := listening(t, "bridge", "--port", "0", "--", os.Args[0], "bridge", url)
	says(t, program(t, "client", "tools", "call", "greet-all", "--json", `{"who":["b"]}`, bridged), "1 b\n", 0)
	says(t, program(t, "client", "tools", "call", "greet-all", "--json", `{"who":["c"]}`, strings.TrimSuffix(bridged, "/mcp")+"/sse"), "1 c\n", 0)
	says(t, program(t, "client", "tools", "list", bridged), `"readOnlyHint": true`, 0)
}

func TestRequestsAreTraced(t *testing.T) {
	traces := t.TempDir()
	says(t, program(t, "client", "tools", "call", "echo", "--json", `{"message":"hi"}`, "--", os.Args[0], "server", "--internal-servers", "echo", "--tracing-dir", traces), `{"message":"hi"}`, 0)
	says(t, program(t, "tools", "list", "--internal-servers", "sqlite"), "use mcp-sql --sqlite FILE", 1)
	for _, command := range []string{"server", "tools", "config", "convert", "client", "bridge"} {
		says(t, program(t, command, "--help"), "Usage:", 0)
	}
	files, err := filepath.Glob(filepath.Join(traces, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	info, _ := os.Stat(files[0])
	if err != nil || info.Mode().Perm() != 0o600 || !strings.Contains(string(text), `"method":"tools/call"`) || !strings.Contains(string(text), `"name":"echo"`) {
		t.Errorf("%v %v %s", err, info.Mode(), text)
	}
}
