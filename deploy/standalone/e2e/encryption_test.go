package e2e_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/switches"
)

const marker = "canary-text-7d1e"

// encryptionKey is a key in the form of encryption.keys.
func encryptionKey(id string) string {
	return id + ":" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(id, 32)[:32]))
}

// encrypt sets the keys of a home, the first of which encrypts.
func (h *home) encrypt(ids ...string) {
	h.more = map[string]string{}
	var keys []string
	for _, id := range ids {
		name := "ENCRYPTION_KEY_" + strings.ToUpper(id)
		h.more[name] = encryptionKey(id)
		keys = append(keys, fmt.Sprintf("%q", "${"+name+"}"))
	}
	h.extra = "encryption: {keys: [" + strings.Join(keys, ", ") + "]}\n"
}

// A conversation goes on over kills and changes of the key, and over signals that people type,
// and the database has nothing of it in clear.
func TestEncryptedConversationsGoOnOverKillsAndNewKeys(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.encrypt("a")
	api, agent := h.outside()
	long := "say " + marker + strings.Repeat(" and more", 10<<10/9)
	first := api.ask(long)
	id := first.Conversation.ID
	asked := api.ask(`call note_add {"name":"` + marker + `"}`)
	failed := api.ask("call fail_" + marker)
	agent.kill()

	h.encrypt("b", "a")
	api, agent = h.outside()
	if said := api.say(id, "say "+marker+" again").Result.Response; said != marker+" again" {
		t.Errorf("after the new key: %s", said)
	}
	operator := h.dial() // without the keys
	uuid := asked.Result.Approval.UUID
	if err := operator.SignalWorkflow(t.Context(), contract.ApprovalWorkflowID(uuid), "", "decide", map[string]any{"approved": true, "by": "ops"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the typed decision is carried out", func() bool { return len(h.tools.called("note_add")) == 1 })
	eventually(t, "and answered", func() bool {
		m := api.conversation(asked.Conversation.ID).Messages
		return contains(m[len(m)-1].Content, "added "+marker)
	})
	list := api.want(http.StatusOK, "GET", "/conversations", "")
	if len(list.Conversations) != 3 {
		t.Errorf("lists: %+v", list.Conversations)
	}
	if got := api.conversation(failed.Conversation.ID).Messages; len(got) < 2 {
		t.Errorf("the failed call: %+v", got)
	}
	for name, history := range dump(t, operator) {
		if bytes.Contains(history, []byte(marker)) {
			t.Errorf("the history of %s is in clear", name)
		}
	}
	agent.kill()
	shown := h.inClear(t)
	for place := range shown {
		if ok, _ := filepath.Match("data/conversation_*.json", filepath.ToSlash(place)); !ok {
			t.Errorf("%s has the text in clear", place)
		}
	}

	h.encrypt("b") // the old key is removed too early
	api, agent = h.outside()
	if r := api.do("POST", "/conversations/"+id+"/messages", messageJSON("say lost")); r.Status < http.StatusInternalServerError {
		t.Errorf("without the key: %d %s", r.Status, r.Raw)
	}
	eventually(t, "the log names the key", func() bool { return contains(agent.out.String(), `encrypted with the key \"a\"`) })
	agent.kill()
	h.encrypt("b", "a")
	api, _ = h.outside()
	if said := api.say(id, "say hello").Result.Response; said != "hello" {
		t.Errorf("with the key again: %s", said)
	}
}

// The switches that pause calls outlive every conversation, and so must not need a key for ever.
func TestAKeyIsRetiredWhenNothingNeedsIt(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.encrypt("a")
	api, agent := h.outside()
	api.want(http.StatusOK, "POST", "/control/pause", `{"what":"tool:note_add","reason":"`+marker+`","by":"ops"}`)
	asked := api.ask("say " + strings.Repeat("long ", 20<<10))
	agent.kill()

	h.encrypt("b", "a")
	api, agent = h.outside()
	u := shellUser{t, h.dir, h.environ()}
	u.run(2, "encryption", "retire", "b", "--config", h.configFile()) // the first
	out, _ := u.run(6, "encryption", "retire", "a", "--config", h.configFile())
	if !contains(out, "Conversation: 1 running") || contains(out, switches.Workflow) || contains(out, ": 0 values") {
		t.Errorf("shown: %s", out)
	}
	api.delete(http.StatusOK, asked.Conversation.ID, "?force=true")
	agent.kill()

	h.encrypt("b")
	api, _ = h.outside()
	if r := api.do("GET", "/control/switches", ""); r.Status != http.StatusOK || !contains(string(r.Raw), marker) {
		t.Errorf("the switches: %s", r.Raw)
	}
	asked = api.ask(`call note_add {"name":"x"}`)
	if paused := api.decide(asked.Result.Approval.UUID, `{"approved":true}`); !paused.Result.WaitingApproval {
		t.Errorf("the call is not paused: %+v", paused.Result)
	}
	api.want(http.StatusOK, "POST", "/control/resume", `{"what":"tool:note_add","by":"ops"}`)
	eventually(t, "the call runs", func() bool { return len(h.tools.called("note_add")) == 1 })
}

// inClear returns the files of a home with the marker in clear.
func (h *home) inClear(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(marker)) || bytes.Contains(data, []byte(base64.StdEncoding.EncodeToString([]byte(marker))[:16])) {
			name, _ := filepath.Rel(h.dir, path)
			out[name] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
