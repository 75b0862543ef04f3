package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// formerFile copies a file of the former Agent Stop and Go, with its tool replaced by one of the test, and
// returns the copy.
func formerFile(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "intake", "testdata", "former", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "conversation_"+name+".json")
	text := strings.NewReplacer("resources_add", "note_add").Replace(string(data))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	formerConversation = "00000001-0000-4000-8000-000000000001"
	formerApproval     = "00000001-aaaa-4aaa-8aaa-000000000002"
)

// A conversation of the former Agent Stop and Go that waits for an approval goes on here: nothing runs before
// the decision, the call runs once, and the model is called with the whole history. The agent is
// killed twice meanwhile, and the import is repeated.
func TestAFormerConversationIsImportedWithItsApproval(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, agent := h.outside()
	u := shellUser{t, h.dir, h.environ()}
	file := formerFile(t, h.dir, "waiting")

	dry, _ := u.run(0, "import", "--config", h.configFile(), "--dry-run", file)
	if !strings.Contains(dry, "would be imported") || api.do("GET", "/conversations/"+formerConversation, "").Status != 404 {
		t.Fatalf("printed %q", dry)
	}
	out, _ := u.run(0, "import", "--config", h.configFile(), file)
	if !strings.Contains(out, "waits for an approval of note_add, UUID "+formerApproval) {
		t.Errorf("printed %q", out)
	}
	agent.kill()
	api, agent = h.outside()
	u.run(0, "import", "--config", h.configFile(), file)
	eventually(t, "the approval waits", func() bool {
		p := api.conversation(formerConversation).PendingApproval
		return p != nil && p.UUID == formerApproval
	})
	if n := len(h.tools.called("note_add")); n != 0 {
		t.Fatalf("%d calls before the decision", n)
	}
	agent.kill()
	api, _ = h.outside()
	api.decide(formerApproval, `{"approved":true}`)
	eventually(t, "the turn ends", func() bool { return strings.HasPrefix(api.lastText(formerConversation), "The tool said: ") })
	if n := len(h.tools.called("note_add")); n != 1 {
		t.Errorf("%d calls", n)
	}
	c := api.conversation(formerConversation)
	if c.Status != "active" || c.Messages[0].Role != "system" || c.Messages[1].ID != "00000001-0000-4000-8000-000000000003" {
		t.Errorf("%+v", c)
	}
	api.say(formerConversation, "say thanks")

	var result struct {
		Summary map[string]int
		Files   []struct{ State, Place, Advice string }
	}
	printed, _ := u.run(1, "import", "--config", h.configFile(), "--json", file, formerFile(t, h.dir, "pipeline"))
	if err := json.Unmarshal([]byte(printed), &result); err != nil || result.Summary["there"] != 1 || result.Files[1].Place != "pending_approval" {
		t.Errorf("%v: %s", err, printed)
	}
	u.run(0, "import", "--config", h.configFile(), "--drop-approvals", filepath.Join(h.dir, "conversation_pipeline.json"))
	eventually(t, "the file is written", func() bool {
		_, err := os.Stat(filepath.Join(h.dir, "data", "conversation_00000005-0000-4000-8000-000000000001.json"))
		return err == nil
	})
	if n := len(h.tools.called("note_add")); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// What an agent has exported is imported by another one that has the same tools.
func TestAnExportedConversationMovesToAnotherAgent(t *testing.T) {
	t.Parallel()
	from, to := newHome(t), newHome(t)
	old, agent := from.outside()
	asked := old.ask(`call note_add {"name":"moved"}`)
	agent.kill()
	api, _ := to.outside()
	u := shellUser{t, to.dir, to.environ()}
	u.run(0, "import", "--config", to.configFile(), filepath.Join(from.dir, "data", "conversation_"+asked.Conversation.ID+".json"))
	eventually(t, "the approval waits", func() bool { return api.conversation(asked.Conversation.ID).PendingApproval != nil })
	api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	eventually(t, "the turn ends", func() bool { return strings.HasPrefix(api.lastText(asked.Conversation.ID), "The tool said: ") })
	if len(from.tools.called("note_add")) != 0 || len(to.tools.called("note_add")) != 1 {
		t.Error("the call ran elsewhere, or not once")
	}
}

// After a reset to before its approval, an imported call asks under another UUID: the first one is
// that of an approval that has been withdrawn.
func TestAnImportedConversationThatIsResetAsksAgain(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.outside()
	u := shellUser{t, h.dir, h.environ()}
	u.run(0, "import", "--config", h.configFile(), formerFile(t, h.dir, "waiting"))
	eventually(t, "the approval waits", func() bool { return api.conversation(formerConversation).PendingApproval != nil })
	operator{t, h.dial()}.reset("conversation-"+formerConversation, true)
	uuid := ""
	eventually(t, "it asks again", func() bool {
		if p := api.conversation(formerConversation).PendingApproval; p != nil && p.UUID != formerApproval {
			uuid = p.UUID
		}
		return uuid != ""
	})
	api.decide(uuid, `{"approved":true}`)
	eventually(t, "the turn ends", func() bool { return strings.HasPrefix(api.lastText(formerConversation), "The tool said: ") })
	if n := len(h.tools.called("note_add")); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// Imported conversations belong to whom the command names, not to whom a file names.
func TestImportedConversationsBelongToTheirOwner(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = "auth: [{type: keys}]\n"
	api, _ := h.outside()
	u := shellUser{t, h.dir, h.environ()}
	key := func(name string) string {
		out, _ := u.run(0, "keys", "add", name, "--config", h.configFile())
		return "asg_" + strings.Fields(out[strings.Index(out, "asg_")+len("asg_"):])[0]
	}
	alice, bob := key("alice"), key("bob")
	file := formerFile(t, h.dir, "waiting")
	u.run(2, "import", "--config", h.configFile(), "--owner", "carol", file)
	u.run(0, "import", "--config", h.configFile(), "--owner", "alice", file)
	eventually(t, "the owner sees it", func() bool {
		r := api.do("GET", "/conversations/"+formerConversation, "", "Authorization: Bearer "+alice)
		return r.Status == 200
	})
	if r := api.do("GET", "/conversations/"+formerConversation, "", "Authorization: Bearer "+bob); r.Status != 404 {
		t.Errorf("another caller: status %d", r.Status)
	}
}
