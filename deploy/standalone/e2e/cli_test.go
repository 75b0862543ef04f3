package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// shellUser runs commands of agent as a person in a shell does.
type shellUser struct {
	t   *testing.T
	dir string
	env []string
}

// run runs a command and requires its exit code.
func (u shellUser) run(code int, args ...string) (stdout, stderr string) {
	u.t.Helper()
	return u.pipe(code, "", args...)
}

// pipe is run with a standard input.
func (u shellUser) pipe(code int, input string, args ...string) (stdout, stderr string) {
	u.t.Helper()
	cmd := u.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		u.t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		u.t.Fatalf("agent %s: exit code %d, expected %d\n%s%s", strings.Join(args, " "), got, code, &out, &errs)
	}
	return out.String(), errs.String()
}

// begin starts a command that waits for somebody. wait waits for its end, which must be a success.
func (u shellUser) begin(args ...string) (shown *syncBuffer, wait func()) {
	u.t.Helper()
	cmd := u.command(args...)
	shown = &syncBuffer{}
	cmd.Stdout, cmd.Stderr = shown, shown
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
	return shown, func() {
		u.t.Helper()
		if err := cmd.Wait(); err != nil {
			u.t.Fatalf("agent %s: %v\n%s", strings.Join(args, " "), err, shown)
		}
	}
}

// command returns a command of agent.
func (u shellUser) command(args ...string) *exec.Cmd {
	u.t.Helper()
	bin, err := binaries()
	if err != nil {
		u.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(bin, "agent"), args...)
	cmd.Dir, cmd.Env = u.dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + u.dir, "USER=carol"}, u.env...)
	return cmd
}

// prints runs a command and requires these words in its output.
func (u shellUser) prints(args []string, words ...string) string {
	u.t.Helper()
	out, _ := u.run(0, args...)
	for _, w := range words {
		if !strings.Contains(out, w) {
			u.t.Errorf("agent %s: %q is not in\n%s", strings.Join(args, " "), w, out)
		}
	}
	return out
}

func TestTheCommandsOfAnAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	port, grpc := freePort(t), freePort(t)
	config := shippedConfig(t, dir, strings.NewReplacer("8080", strconv.Itoa(port)), grpc, 0)
	start(t, dir, "agent", nil, "--config", config, "--demo-if-no-key")
	u := shellUser{t, dir, []string{fmt.Sprintf("AGENT_URL=http://127.0.0.1:%d", port)}}

	u.prints([]string{"ask", "list the resources"}, "The tool resources_list answered")
	u.prints([]string{"tools"}, "resources_add", "yes", "annotation")
	eventually(t, "the model that replaces one without a key is no change of the file", func() bool {
		return strings.Contains(u.prints([]string{"config", "adopt", "--dry-run", "--demo-if-no-key", "--config", config}), "0 keep what they have; 1 have it already")
	})
	if out, _ := u.run(1, "doctor", "--config", config); !strings.Contains(out, "ok       agent: ready at") || !strings.Contains(out, "GEMINI_API_KEY") {
		t.Error(out)
	}
	out, shown := u.run(3, "ask", "add a resource named apple with value 42")
	if strings.Contains(out, "approve") || !strings.Contains(shown, `"name": "apple"`) || !strings.Contains(shown, "agent approvals approve ") {
		t.Errorf("printed\n%s\nand\n%s", out, shown)
	}
	var list struct {
		Approvals []struct {
			UUID           string
			ConversationID string `json:"conversation_id"`
		}
	}
	eventually(t, "the approval is listed", func() bool {
		if err := json.Unmarshal([]byte(u.prints([]string{"approvals", "list", "--json"})), &list); err != nil {
			t.Fatal(err)
		}
		return len(list.Approvals) == 1
	})
	uuid, id := list.Approvals[0].UUID, list.Approvals[0].ConversationID
	u.prints([]string{"approvals", "later", uuid, "--for", "3h"}, "It is put off until")
	u.prints([]string{"approvals", "list"}, uuid, "until ", `{"name":"apple","value":42}`)
	u.prints([]string{"approvals", "show", uuid}, `"value": 42`, "agent approvals reject")
	u.prints([]string{"__complete", "approvals", "approve", ""}, uuid)
	u.prints([]string{"__complete", "conversations", "show", ""}, id+"\tadd a resource")
	if _, shown := u.run(4, "ask", "--conversation", id, "hello"); !strings.Contains(shown, "waiting for approval") {
		t.Error(shown)
	}
	u.prints([]string{"approvals", "approve", uuid}, "The tool resources_add answered")
	if _, shown := u.run(4, "approvals", "reject", uuid); !strings.Contains(shown, "was already approved by carol") {
		t.Error(shown)
	}
	u.prints([]string{"approvals", "list"}, "Nothing waits.")

	u.prints([]string{"conversations", "list", "--status", "active"}, id)
	u.prints([]string{"conversations", "show", id}, "calls resources_add", "[APPROVAL]: Approved")
	if out := u.prints([]string{"conversations", "export", id}); !json.Valid([]byte(out)) {
		t.Error(out)
	}
	events := u.prints([]string{"ask", "--json", "--conversation", id, "list the resources"})
	if first, _, _ := strings.Cut(events, "\n"); !strings.Contains(first, `"type":"RUN_STARTED"`) {
		t.Error(events)
	}
	out, _ = u.pipe(0, "list the resources\n\nlist the resources\n", "chat", "--conversation", id)
	if n := strings.Count(out, "The tool resources_list answered"); n != 2 {
		t.Errorf("two lines are answered %d times\n%s", n, out)
	}
	u.prints([]string{"conversations", "cancel", id}, "Nothing is running.")
	u.prints([]string{"replay", "--config", config, "--since", "7d"}, "none would break", "Conversation", "Approval")
	u.prints([]string{"conversations", "close", id}, "closed")
	u.prints([]string{"conversations", "events", id}, `"type":"MESSAGES_SNAPSHOT"`)
	if _, shown := u.run(4, "conversations", "show", "0b8c9d0e-1f2a-4b3c-8d4e-5f6a7b8c9d0e"); !strings.Contains(shown, "conversation not found") {
		t.Error(shown)
	}
	if _, shown := u.run(5, "approvals", "list", "--url", fmt.Sprintf("http://127.0.0.1:%d", freePort(t))); !strings.Contains(shown, "Start one with 'agent run'") {
		t.Error(shown)
	}
}
