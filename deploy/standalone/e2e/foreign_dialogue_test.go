//go:build foreign

package e2e_test

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestForeignDialogue has an agent made with the official A2A SDK do tasks that continue each other: the second waits
// for an approval. That agent answers with what was said before in the context, and with the message of the task
// to which the new one refers.
func TestForeignDialogue(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = fmt.Sprintf("a2a:\n  - {name: js, url: '%s', context: conversation}\n", foreignAgent(t, "1.0"))
	api, _ := h.inside()
	id := api.ask(delegating("js", "one")).Conversation.ID
	asked := api.say(id, delegating("js", "delete two"))
	if asked.Result.Approval == nil || !strings.Contains(asked.Result.Approval.Description, "said before: one; continues: one)") {
		t.Fatalf("%+v", asked.Result)
	}
	if done := api.decide(asked.Result.Approval.UUID, `{"approved":true}`); !strings.Contains(done.Result.Response, "deleted") {
		t.Errorf("the answer is %q", done.Result.Response)
	}
	if done := api.say(id, delegating("js", "three")); !strings.Contains(done.Result.Response, "echo: three (said before: one, delete two; continues: delete two)") {
		t.Errorf("the answer is %q", done.Result.Response)
	}
	if other := api.ask(delegating("js", "four")); !strings.Contains(other.Result.Response, "echo: four [") {
		t.Errorf("another conversation continues: %q", other.Result.Response)
	}
}

// foreignAgent starts an agent made with the official A2A SDKs, and returns its URL.
func foreignAgent(t *testing.T, version string) string {
	t.Helper()
	cmd := exec.Command("node", filepath.Join(filepath.Dir(foreignScript(t)), "a2a-agent.mjs"), version)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log := newOutput("")
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), " at ")
	if err != nil || !found {
		t.Fatalf("the agent said %q: %v\n%s", line, err, log)
	}
	return url
}
