package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// step is a command of the README's tour and what it prints; "…" stands for
// anything.
type step struct{ command, prints string }

// tour reads the console blocks of the README, and of the API's README, which continues with
// the same agent.
func tour(t *testing.T) []step {
	t.Helper()
	var text string
	for _, file := range []string{"README.md", "gateway/README.md"} {
		data, err := os.ReadFile("../../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	var steps []step
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case line == "```console":
			inside = true
		case line == "```":
			inside = false
		case !inside:
		case isCommand:
			steps = append(steps, step{command: command})
		default:
			steps[len(steps)-1].prints += line + "\n"
		}
	}
	return steps
}

// TestTheREADMEsTour runs the commands of the README, in its own folder and on other ports, and
// compares the output.
func TestTheREADMEsTour(t *testing.T) {
	t.Parallel()
	steps := tour(t)
	if len(steps) < 9 {
		t.Fatalf("the README's tour has %d steps", len(steps))
	}
	api, grpc, ui := freePort(t), freePort(t), freePort(t)
	ports := strings.NewReplacer("8080", strconv.Itoa(api), "7233", strconv.Itoa(grpc), "8233", strconv.Itoa(ui))
	dir := t.TempDir()
	config := shippedConfig(t, dir, ports, grpc, ui)
	var agent *proc
	bin, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	local := strings.NewReplacer("bin/agent", filepath.Join(bin, "agent"))
	variables := fmt.Sprintf("export AGENT_URL=http://127.0.0.1:%d\n", api)
	assignment := regexp.MustCompile(`^([A-Z]+)=\$\(`)
	for _, s := range steps {
		var got string
		switch {
		case s.command == "make run":
			agent = start(t, dir, "agent", atTerminal, "--config", config, "--demo-if-no-key")
			got = withoutLog(agent.out.String())
		case strings.HasPrefix(s.command, "kill -9"):
			shell(t, dir, s.command, "")
			<-agent.done
		case assignment.MatchString(s.command):
			name := assignment.FindStringSubmatch(s.command)[1]
			value := shell(t, dir, variables+ports.Replace(s.command)+"; echo $"+name, "…-…") // a UUID, or a path with one
			variables += name + "=" + strings.TrimSpace(value) + "\n"
		default:
			got = shell(t, dir, variables+local.Replace(ports.Replace(s.command)), ports.Replace(s.prints))
		}
		if want := pattern(ports.Replace(s.prints)); !want.MatchString(got) {
			t.Fatalf("$ %s\nprints\n%s\nbut the README says\n%s", s.command, got, s.prints)
		}
	}
}

// atTerminal is the log of an agent that a person starts.
var atTerminal = []string{"LOG_FORMAT=text"}

// withoutLog removes log lines that a busy machine may print before the addresses.
func withoutLog(out string) (rest string) {
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "time=") {
			rest += line
		}
	}
	return rest
}

// shippedConfig writes the YAML file that make run uses, with other ports.
func shippedConfig(t *testing.T, dir string, ports *strings.Replacer, grpc, ui int) string {
	t.Helper()
	data, err := os.ReadFile("../../../config/agent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), "port: 8080", ports.Replace("port: 8080"), 1)
	text += fmt.Sprintf("\ntemporal: {port: %d, ui_port: %d}\n", grpc, ui)
	path := filepath.Join(dir, "agent.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// shell runs a command until it prints the expected output, because the list of approvals lags
// behind.
func shell(t *testing.T, dir, command, prints string) string {
	t.Helper()
	var out []byte
	tries := 0
	eventually(t, "the README's output of "+command, func() bool {
		cmd := exec.Command("bash", "-c", command)
		cmd.Dir = dir
		var err error
		if out, err = cmd.Output(); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		tries++
		readOnly := !strings.Contains(command, "--json ") && !strings.Contains(command, " -d ") && !strings.Contains(command, " -X POST ")
		return !readOnly || tries > 1000 || pattern(prints).Match(out)
	})
	return string(out)
}

// pattern matches the beginning of an output. White space counts, "…" is
// anything.
func pattern(prints string) *regexp.Regexp {
	parts := strings.Split(strings.TrimSpace(prints), "…")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile(`(?s)^\s*` + strings.Join(parts, ".*"))
}
