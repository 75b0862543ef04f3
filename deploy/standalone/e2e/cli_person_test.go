package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// shell returns a person at a shell who talks to the agent.
func (a *api) shell() shellUser {
	return shellUser{a.t, a.t.TempDir(), []string{"AGENT_URL=" + a.base}}
}

func TestAPersonAtAShellFindsNamesSavesAndDeletes(t *testing.T) {
	t.Parallel()
	api, _ := newHome(t).inside()
	id := api.ask(`call note_add {"name":"quince"}`).Conversation.ID
	u, short := api.shell(), "#"+id[:4]

	eventually(t, "the list has the short ID", func() bool { return strings.Contains(u.prints([]string{"conversations", "list"}), short) })
	u.prints([]string{"conversations", "rename", short, "Fruit for the canteen"}, "Fruit for the canteen")
	eventually(t, "the new title is found", func() bool {
		out := u.prints([]string{"conversations", "list", "--search", "canteen fruit"})
		return strings.Contains(out, id) && strings.Contains(out, "Searched ")
	})
	if out := u.prints([]string{"conversations", "list", "--search", "quince"}); !strings.Contains(out, id) {
		t.Errorf("the text is not found:\n%s", out)
	}
	if out := u.prints([]string{"conversations", "list", "--search", "medlar"}); strings.Contains(out, id) {
		t.Errorf("what it does not have is found:\n%s", out)
	}
	u.prints([]string{"conversations", "show", short}, "calls note_add")
	u.prints([]string{"conversations", "export", short, "--format", "markdown"}, "# Fruit for the canteen", "note_add")
	if _, shown := u.run(2, "conversations", "export", short, "--format", "html"); !strings.Contains(shown, "markdown") {
		t.Error(shown)
	}
	if _, shown := u.run(4, "conversations", "show", "#0000"); !strings.Contains(shown, "not found: #0000") {
		t.Error(shown)
	}

	if _, shown := u.run(4, "conversations", "delete", short); !strings.Contains(shown, "approval") {
		t.Error(shown)
	}
	u.prints([]string{"conversations", "delete", short, "--force"}, "The conversation is deleted.")
	if r := api.do("GET", "/conversations/"+id, ""); r.Status != http.StatusGone {
		t.Errorf("%d %s", r.Status, r.Raw)
	}
	if _, shown := u.run(4, "conversations", "show", id); !strings.Contains(shown, "deleted") {
		t.Error(shown)
	}
}

func TestAPersonAtAShellAnswersAndRejects(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	newCounter(t, h)
	api, _ := h.inside()
	u := api.shell()

	uuid := api.ask("call quote").Result.Approval.UUID
	u.prints([]string{"approvals", "show", uuid}, "a tool server asks a question", "How many seats?", "agent approvals answer "+uuid)
	if _, shown := u.run(4, "approvals", "answer", uuid, `{"seats":0}`); !strings.Contains(shown, "must be at least 1") {
		t.Error(shown)
	}
	u.prints([]string{"approvals", "answer", uuid, `{"seats":3}`}, `accept {"seats":3}`)

	asked := api.ask(`call note_add {"name":"x"}`)
	uuid = asked.Result.Approval.UUID
	u.prints([]string{"approvals", "reject", uuid, "--reason", "not on a Friday", "--by", "dave"}, "not on a Friday")
	if calls := h.tools.called("note_add"); len(calls) != 0 {
		t.Errorf("it ran all the same: %v", calls)
	}
	var shown struct {
		Decision struct{ Decision, By, Reason string }
	}
	if err := json.Unmarshal([]byte(u.prints([]string{"approvals", "show", uuid, "--json"})), &shown); err != nil || shown.Decision.By != "dave" || shown.Decision.Reason != "not on a Friday" {
		t.Errorf("%v %+v", err, shown)
	}
}

func TestCommandsInAPipe(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	first := api.ask("say one").Conversation.ID
	u := api.shell()
	eventually(t, "the list has it", func() bool { return strings.Contains(u.prints([]string{"conversations", "list"}), first) })

	out, _ := u.pipe(0, "!help\n!use #"+first[:4]+"\nsay two\n!list\n!!say it\n!new\nsay three\n", "chat")
	for _, want := range []string{"!approve [#ID] [REASON]", "Conversation " + first + ", which is active, goes on here.", "* #" + first[:4], "The next message begins a new conversation."} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	texts := func(id string) (out []string) {
		for _, m := range api.do("GET", "/conversations/"+id, "").Body.Conversation.Messages {
			if m.Role == "user" {
				out = append(out, m.Content)
			}
		}
		return out
	}
	if got := strings.Join(texts(first), ", "); got != "say one, say two, !say it" {
		t.Errorf("the conversation has: %s", got)
	}
	if n := len(api.do("GET", "/conversations", "").Body.Conversations); n != 2 {
		t.Errorf("there are %d conversations", n)
	}

	if _, shown := u.pipe(3, `call note_add {"name":"x"}`+"\n", "chat"); !strings.Contains(shown, "agent approvals approve ") {
		t.Error(shown)
	}
	eventually(t, "the approval is listed", func() bool {
		out, _ := u.pipe(0, "!inbox\n", "chat")
		return strings.Contains(out, `note_add {"name":"x"}`)
	})
	if _, shown := u.pipe(4, "!approve\n", "chat"); !strings.Contains(shown, "no approval is shown here") {
		t.Error(shown)
	}
	if calls := h.tools.called("note_add"); len(calls) != 0 {
		t.Errorf("a command has passed the gate: %v", calls)
	}
	if out, _ := u.pipe(0, "!inbox\n", "chat", "--json"); !json.Valid([]byte(out)) || !strings.Contains(out, `"command": "inbox"`) {
		t.Error(out)
	}
}
