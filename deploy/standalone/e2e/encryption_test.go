package e2e_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/connect"
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

// keyed connects to the home's Temporal server with its keys, if it has some.
func (h *home) keyed() client.Client {
	h.t.Helper()
	c, err := config.Load(h.configFile())
	if err != nil {
		h.t.Fatal(err)
	}
	codec, err := c.Encryption.Open(h.getenv)
	if err != nil {
		h.t.Fatal(err)
	}
	address := cmp.Or(h.server, fmt.Sprintf("127.0.0.1:%d", h.ports.grpc))
	connected, _, err := connect.Dial(h.t.Context(), connect.Options{Codec: codec, Address: address, Namespace: "default", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(connected.Close)
	return connected
}

// What operators do with an agent works where conversations are encrypted, and what they take away
// of it has nothing in clear but the files for people.
func TestTheCommandsOfOperatorsOnEncryptedConversations(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.encrypt("a")
	api, agent := h.outside()
	long := "say " + marker + strings.Repeat(" and more", 10<<10/9) // in the blob store
	told, asked := api.ask(long).Conversation.ID, api.ask(`call note_add {"name":"`+marker+`"}`)
	h.llm = `{model: "openai:other-model"}`
	file := h.configFile()
	u := shellUser{t, h.dir, h.environ()}
	eventually(t, "all runs are listed", func() bool {
		out, _ := u.run(0, "replay", "--config", file)
		return strings.Contains(out, ": none would break") && strings.Contains(out, "1 Approval") && strings.Contains(out, "2 Conversation")
	})
	u.prints([]string{"config", "adopt", "--config", file, "--dry-run"}, `model: "openai:test-model" → "openai:other-model"`, "waits for "+asked.Result.Approval.UUID)
	u.prints([]string{"repair", "--config", file}, "All workflows can go on")
	u.prints([]string{"policy", "backtest", "--config", file, "--running"}, "1 calls of 1 conversations", "1 same")
	u.prints([]string{"import", "--config", file, formerFile(t, h.dir, "waiting")}, "waits for an approval of note_add, UUID "+formerApproval)
	u.run(0, "backup", "--config", file, filepath.Join(h.dir, "copies"))
	without := shellUser{t, h.dir, nil}
	without.fails(t, "ENCRYPTION_KEY_A", "replay", "--config", file)
	agent.kill()
	if err := os.Rename(filepath.Join(h.dir, "data"), filepath.Join(t.TempDir(), "lost")); err != nil {
		t.Fatal(err)
	}
	for place := range h.inClear(t) {
		if !isExported(t, filepath.Join(h.dir, place)) {
			t.Errorf("%s of the backup has the text in clear", place)
		}
	}

	u.run(0, "restore", "--config", file, "--unpaused", filepath.Join(h.dir, "copies"))
	api, _ = h.outside()
	u.prints([]string{"config", "adopt", "--config", file}, "2 take it over", "1 have it already")
	api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	api.decide(formerApproval, `{"approved":true}`)
	if said := api.say(told, "say still there").Result.Response; said != "still there" || h.lastModel() != "other-model" {
		t.Errorf("%q said %q", h.lastModel(), said)
	}
	if text := api.conversation(told).Messages[2].Content; "say "+text != long {
		t.Errorf("the long message has %d bytes", len(text))
	}
	eventually(t, "both calls have run", func() bool { return len(h.tools.called("note_add")) == 2 })
}

// fails runs a command that must fail, and say why with these words.
func (u shellUser) fails(t *testing.T, words string, args ...string) {
	t.Helper()
	if out, err := u.command(args...).CombinedOutput(); err == nil || !strings.Contains(string(out), words) {
		t.Errorf("agent %s: %v, %q is not in\n%s", strings.Join(args, " "), err, words, out)
	}
}

// isExported reports whether a file is an exported conversation: they are for people.
func isExported(t *testing.T, path string) bool {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var c conversation
	return json.Unmarshal(data, &c) == nil && c.ID != "" && len(c.Messages) > 0
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
