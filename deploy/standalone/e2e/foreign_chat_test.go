//go:build foreign

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// terminal is a terminal of tmux in which a program runs.
type terminal struct {
	t      *testing.T
	socket string
}

// openTerminal runs a command in a terminal.
func openTerminal(t *testing.T, width, height int, dir string, env []string, command string) *terminal {
	t.Helper()
	x := &terminal{t: t, socket: filepath.Join(dir, "tmux")}
	cmd := exec.Command("tmux", "-S", x.socket, "-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height),
		command+"; echo code $?; sleep 600")
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "USER=carol", "LANG=C.UTF-8"}, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", x.socket, "kill-server").Run() })
	return x
}

func (x *terminal) tmux(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// types types a text as it is, and then presses keys.
func (x *terminal) types(text string, keys ...string) {
	x.t.Helper()
	if text != "" {
		x.tmux("send-keys", "-l", text)
	}
	if len(keys) > 0 {
		x.tmux(append([]string{"send-keys"}, keys...)...)
	}
}

// shows waits until all of this is in the terminal, scrolled away or not.
func (x *terminal) shows(words ...string) string {
	x.t.Helper()
	var screen string
	deadline := time.Now().Add(patience)
	for {
		screen = x.tmux("capture-pane", "-p", "-J", "-S", "-")
		missing := ""
		for _, w := range words {
			if !strings.Contains(screen, w) {
				missing = w
			}
		}
		if missing == "" {
			return screen
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("%q is not in\n%s", missing, screen)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestAChatAtATerminal(t *testing.T) {
	t.Parallel()
	bin, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	port, grpc := freePort(t), freePort(t)
	config := shippedConfig(t, dir, strings.NewReplacer("8080", strconv.Itoa(port)), grpc, 0)
	env := []string{fmt.Sprintf("AGENT_URL=http://127.0.0.1:%d", port), "EDITOR=printf ' the resources' | tee -a"}
	agent := start(t, dir, "agent", nil, "--config", config, "--demo-if-no-key")
	x := openTerminal(t, 60, 16, dir, env, filepath.Join(bin, "agent")+" chat")

	x.shows("A conversation with the agent", "Enter sends")
	x.types("list", "C-g")
	x.shows("> list the resources")
	x.types("", "Enter")
	x.shows("The tool resources_list answered")

	var words []string // more than fit on the screen
	for i := range 150 {
		words = append(words, "word"+strconv.Itoa(i))
	}
	x.types("add a resource named "+strings.Join(words, "-")+" with value 42", "Enter")
	screen := strings.ReplaceAll(strings.Join(strings.Fields(x.shows("Run resources_add with these arguments?", `"value": 42`)), ""), "\n", "")
	_, card, _ := strings.Cut(screen, "Approval")
	if !strings.Contains(card, strings.Join(words, "-")) {
		t.Errorf("the card has not all of the argument:\n%s", card)
	}

	agent.kill()
	start(t, dir, "agent", nil, "--config", config, "--demo-if-no-key")
	u := shellUser{t, dir, env}
	eventually(t, "the approval waits again", func() bool { return strings.Contains(u.prints([]string{"approvals", "list"}), "resources_add") })
	time.Sleep(time.Second) // a question takes no keys at first
	x.types("y")
	x.shows("The tool resources_add answered", "[APPROVAL]: Approved")

	x.types("add a resource named pear with value 7", "Enter")
	x.shows(`"name": "pear"`, "Run resources_add")
	time.Sleep(time.Second)
	x.types("n")
	x.shows("Why not?")
	x.types("not on a Friday", "Enter")
	x.shows("Reason (carol): not on a")
	x.types("", "C-c")
	x.shows("Ctrl-C again leaves")
	x.types("", "C-c")
	x.shows("To continue: agent chat --conversation ", "code 0")
}

// A chat of a turn that runs: Ctrl-C stops the turn and not the chat.
func TestCtrlCAtATerminalStopsTheTurn(t *testing.T) {
	t.Parallel()
	bin, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	newCounter(t, h)
	api, _ := h.inside()
	x := openTerminal(t, 80, 20, t.TempDir(), []string{"AGENT_URL=" + api.base, "NO_COLOR=1"}, filepath.Join(bin, "agent")+" chat")

	x.shows("Enter sends")
	x.types("call slow_read", "Enter")
	x.shows("working · Ctrl-C cancels the turn")
	eventually(t, "the tool is called", func() bool { return len(h.tools.called("slow_read")) == 1 })
	x.types("", "C-c")
	x.shows("The turn is being cancelled", "The turn was cancelled.")
	id := api.do("GET", "/conversations", "").Body.Conversations[0].ID
	eventually(t, "the turn is over", func() bool {
		return !strings.Contains(api.do("GET", "/conversations/"+id, "").Raw, `"running":true`)
	})
	x.types("say still here", "Enter")
	x.shows("still here")

	x.types("call book", "Enter") // whose approval leads to a form
	x.shows("Run book with these arguments?", "server        counter")
	if styled := x.tmux("capture-pane", "-p", "-e", "-S", "-"); strings.Contains(styled, "\x1b[1m") || strings.Contains(styled, "\x1b[2m") || strings.Contains(styled, "\x1b[3") {
		t.Errorf("NO_COLOR has colours:\n%q", styled)
	}
	time.Sleep(time.Second) // a question takes no keys at first
	x.types("y")
	x.shows("class (required)", "> first")
	time.Sleep(time.Second)
	x.types("", "Down", "Enter")
	x.shows("seats (required)")
	x.types("two", "Enter")
	x.shows("must be a number")
	x.types("", "C-u")
	x.types("2", "Enter")
	x.shows(`accept {"class":"second","seats":2}`)
	x.types("", "Up")
	x.shows("> call book")
}
