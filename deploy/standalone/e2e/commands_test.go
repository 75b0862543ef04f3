package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/workflows/contract"
)

// command gives a chat's text to the agent.
func (a *api) command(status int, text, conversation string, shown ...string) string {
	a.t.Helper()
	body, _ := json.Marshal(map[string]any{"text": text, "conversation_id": conversation, "shown": shown})
	r := a.do("POST", "/commands", string(body))
	if r.Status != status {
		a.t.Fatalf("%s: %d %s", text, r.Status, r.Raw)
	}
	return r.Raw
}

func TestAConversationIsLedByItsShortIDAndCommands(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	asked := api.ask(`call note_add {"name":"x"}`)
	id, uuid := asked.Conversation.ID, asked.Result.Approval.UUID
	short := "#" + id[:4]
	eventually(t, "the short ID is known", func() bool {
		return api.do("GET", "/conversations/"+url.PathEscape(short), "").Body.Conversation.ID == id
	})
	if got := api.do("GET", "/conversations/"+id[:6]+"/tree", ""); !strings.Contains(got.Raw, id) {
		t.Error(got.Raw)
	}
	if got := api.do("GET", "/conversations?id="+id[:4], "").Body.Conversations; len(got) != 1 || got[0].ID != id {
		t.Errorf("%+v", got)
	}
	if r := api.do("GET", "/conversations/ffff0000", ""); r.Status != http.StatusNotFound {
		t.Error(r.Raw)
	}
	for text, want := range map[string]string{"!list": "* " + short, "!tree": "waiting", "!inbox": `note_add {\"name\":\"x\"}`, "!use " + short: id} {
		if got := api.command(200, text, short); !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
	api.command(http.StatusBadRequest, "!approve", short)
	if got := api.command(200, "!approve it is fine", short, uuid); !strings.Contains(got, "is approved: note_add") {
		t.Error(got)
	}
	eventually(t, "the call has run", func() bool {
		return strings.Contains(api.do("GET", "/conversations/"+id, "").Raw, `"via":"chat"`)
	})
	api.command(http.StatusConflict, "!reject #"+uuid, short)
	api.command(200, "!delete force", short)
	if r := api.do("GET", "/conversations/"+id, ""); r.Status != http.StatusGone {
		t.Error(r.Raw)
	}
}

// TestRecordHistoriesOfModels also records the history.
func TestRecordHistoriesOfModels(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.llm = `{model: "anthropic:claude-sonnet-4-5"}`
	h.extra = "models:\n  deep: {provider: openai, model: gpt-4o, selectable: true}\n"
	h.everywhere()
	api, p := h.inside()
	h.model.Reply(llmtest.Say("1"), llmtest.Say("2"), llmtest.Say("3"), llmtest.Say("4"))
	id := api.ask("hello").Conversation.ID
	for _, body := range []string{`{"message":"x","model":"deep"}`, `{"message":"x","model":"deep","keep_model":true}`, `{"message":"x"}`} {
		if r := api.do("POST", "/conversations/"+id+"/messages", body); r.Status != http.StatusOK {
			t.Fatal(r.Raw)
		}
	}
	var asked []string
	for _, r := range h.model.Requests() {
		asked = append(asked, map[bool]string{true: "deep", false: "own"}[strings.Contains(r.Path, "/chat/completions")])
	}
	if got := fmt.Sprint(asked); got != "[own deep deep deep]" {
		t.Error(got)
	}
	r := api.do("POST", "/conversations/"+id+"/messages", `{"message":"x","model":"gpt-4o"}`)
	if r.Status != http.StatusBadRequest || !strings.Contains(r.Raw, "these can be: anthropic:claude-sonnet-4-5, deep") {
		t.Error(r.Raw)
	}
	if r := api.do("GET", "/conversations/"+id, ""); !strings.Contains(r.Raw, `"model":"deep"}`) && !strings.Contains(r.Raw, `"model":"deep",`) {
		t.Error(r.Raw)
	}
	keep(t, p.Client, "model", contract.ConversationWorkflowID(id))
}

// TestRecordHistoriesOfTitles names a conversation while an approval waits and again later, and
// records the history.
func TestRecordHistoriesOfTitles(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, p := h.inside()
	asked := api.ask(`call note_add {"name":"x"}`)
	id := asked.Conversation.ID
	for _, title := range []string{"Fruit", "Fruit for the canteen"} {
		if r := api.do("PATCH", "/conversations/"+id, `{"title":"`+title+`","by":"alice"}`); r.Status != http.StatusOK || !strings.Contains(r.Raw, `"title":"`+title+`"`) {
			t.Fatal(r.Raw)
		}
		if asked.Result.Approval != nil {
			api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
			asked.Result.Approval = nil
		}
	}
	eventually(t, "the list has the title", func() bool {
		return strings.Contains(api.do("GET", "/conversations", "").Raw, `"title":"Fruit for the canteen"`)
	})
	keep(t, p.Client, "title", contract.ConversationWorkflowID(id))
}
