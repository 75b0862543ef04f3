package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// base is the base of a section of a file with a text.
func base(name, text string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + name + ".md\x00" + text))
	return hex.EncodeToString(sum[:6])
}

// lastRequest is the body of the model's last request.
func (h *home) lastRequest() string {
	all := h.model.Requests()
	return string(all[len(all)-1].Body)
}

// lastSystem is the system prompt of the model's last request.
func (h *home) lastSystem() string {
	h.t.Helper()
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal([]byte(h.lastRequest()), &body); err != nil || len(body.Messages) == 0 || body.Messages[0].Role != "system" {
		h.t.Fatalf("%v: the last request has no system prompt: %s", err, h.lastRequest())
	}
	return body.Messages[0].Content
}

func TestAPromptIsChangedUnderAnApprovalThatShowsTheDiff(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	bin, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(h.dir, "prompt")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"index.md": "You help.\n[SECTIONS]\ntone\n", "tone.md": "Be brief.\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.also = []string{fmt.Sprintf("{name: prompts, command: %q, args: [--stdio, --directory, %q]}", filepath.Join(bin, "mcp-prompt"), dir)}
	h.prompt = fmt.Sprintf("{directory: %q}", dir)
	api, _ := h.outside()
	asked := api.ask(`call update_prompt {"section":"tone","operation":"append","content":"Be kind.","base":"` + base("tone", "Be brief.\n") + `"}`)
	old := asked.Conversation.ID
	for _, line := range []string{"What it changes, as prompts says:", "\n     Be brief.\n", "\n    +Be kind."} {
		if d := asked.Result.Approval.Description; !strings.Contains(d, line) {
			t.Errorf("the approval does not show %q:\n%s", line, d)
		}
	}
	if got := api.decide(asked.Result.Approval.UUID, `{"approved":true}`); got.Result.WaitingApproval || !strings.Contains(h.lastRequest(), "This is version 2") {
		t.Errorf("%+v", got.Result)
	}
	api.say(old, "hello")
	if strings.Contains(h.lastSystem(), "Be kind.") {
		t.Error("a conversation that runs has the new prompt")
	}
	api.ask("hello")
	if got := h.lastSystem(); !strings.Contains(got, "Be brief.") || !strings.Contains(got, "Be kind.") {
		t.Errorf("a new conversation has the prompt %q", got)
	}
	shell := shellUser{t, h.dir, append(h.environ(), "USER=carol")}
	config := filepath.Join(h.dir, h.file)
	eventually(t, "the old conversation adopts it", func() bool {
		out, _ := shell.run(0, "config", "adopt", old, "--config", config)
		return strings.Contains(out, "1 take it over")
	})
	api.say(old, "hello")
	if !strings.Contains(h.lastSystem(), "Be kind.") {
		t.Error("the conversation that was told has the old prompt")
	}
	if uses := api.conversation(old).Prompts; len(uses) != 2 || uses[0].Version != 1 || uses[1].Version != 2 || uses[1].By != "carol" || uses[1].Source != "directory" ||
		uses[0].Sections[0].Digest != base("tone", "Be brief.\n") || uses[1].Sections[0].Digest != base("tone", "Be brief.\n\nBe kind.") {
		t.Errorf("the record has the prompts %+v", uses)
	}
	shell.prints([]string{"prompt", "used", old, "--url", fmt.Sprintf("http://127.0.0.1:%d", h.ports.api)}, "SECTION")
	shell.prints([]string{"prompt", "revert", "1", "--why", "unkind", "--config", config}, "This is version 3.")
	shell.prints([]string{"prompt", "history", "--config", config}, "revert to 1  by carol  (unkind)")
	api.ask("hello")
	if strings.Contains(h.lastSystem(), "Be kind.") {
		t.Error("a conversation after the revert has the reverted prompt")
	}
}

// The prompt of a server on another machine is that of the moment in which a conversation begins. Without it
// none begins, and those that run go on.
func TestConversationsBeginWithThePromptOfAServer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	dir, port := filepath.Join(h.dir, "prompt"), fmt.Sprint(freePort(t))
	serve := func(text string) *proc {
		return start(t, h.dir, "mcp-prompt", h.environ(), "--directory", dir, "--create", text, "--port", port)
	}
	first := serve("You help.")
	h.also = []string{fmt.Sprintf("{name: prompts, url: 'http://127.0.0.1:%s/mcp'}", port)}
	h.prompt = "{server: prompts}"
	api, _ := h.outside()
	asked := api.ask("hello").Conversation
	if got := h.lastSystem(); got != "You help.\n" {
		t.Errorf("the prompt is %q", got)
	}
	if uses := api.conversation(asked.ID).Prompts; len(uses) != 1 || uses[0].Source != "server prompts" || uses[0].Version != 1 || uses[0].Digest == "" || uses[0].Fallback != "" {
		t.Errorf("the record has the prompts %+v", uses)
	}
	first.kill()
	refused := api.do("POST", "/conversations", messageJSON("hello"))
	if refused.Status != 503 || !strings.Contains(refused.Raw, "the prompt of the agent cannot be read from the tool server prompts, so no conversation begins") {
		t.Errorf("status %d: %s", refused.Status, refused.Raw)
	}
	api.say(asked.ID, "hello")
	if got := h.lastSystem(); got != "You help.\n" {
		t.Errorf("the conversation that runs has the prompt %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "index.md"), []byte("You help more."), 0o600); err != nil {
		t.Fatal(err)
	}
	serve("")
	eventually(t, "a conversation begins again", func() bool {
		return api.do("POST", "/conversations", messageJSON("hello")).Status == 201
	})
	if got := h.lastSystem(); got != "You help more.\n" {
		t.Errorf("the prompt is %q", got)
	}
}
