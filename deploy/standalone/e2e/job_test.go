package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestADestructiveCallStopsAndGoesOnAfterTheApproval(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.whole()
	asked := api.ask(`call note_add {"name":"apple"}`)
	if !asked.Result.WaitingApproval || asked.Result.Approval == nil {
		t.Fatalf("no approval was asked for: %+v", asked.Result)
	}
	if n := len(h.tools.called("note_add")); n != 0 {
		t.Fatalf("the tool ran %d times before anybody approved", n)
	}
	id := asked.Conversation.ID
	if got := api.conversation(id); got.Status != "waiting_approval" || got.PendingApproval == nil {
		t.Errorf("conversation while it waits: %+v", got)
	}
	done := api.decide(asked.Result.Approval.UUID, `{"approved":true,"by":"alice"}`)
	if done.Result.WaitingApproval || done.Result.Response != "The tool said: added apple" {
		t.Errorf("after the approval: %+v", done.Result)
	}
	calls := h.tools.called("note_add")
	if len(calls) != 1 || calls[0].Args["name"] != "apple" || calls[0].Key == "" {
		t.Errorf("calls: %+v", calls)
	}
	roles := ""
	for _, m := range done.Conversation.Messages {
		roles += m.Role[:1]
	}
	if roles != "suaauta" {
		t.Errorf("messages: %s, want system user call request decision result answer", roles)
	}
	sameAsFile(t, h, api, id)
}

// sameAsFile compares the API's document with the exported file.
func sameAsFile(t *testing.T, h *home, api *api, id string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, "data", "conversation_"+id+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file, shown any
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	raw := api.do("GET", "/conversations/"+id, "").Raw
	var outer struct{ Conversation any }
	if err := json.Unmarshal([]byte(raw), &outer); err != nil {
		t.Fatal(err)
	}
	shown = outer.Conversation
	if fmt.Sprint(file) != fmt.Sprint(shown) {
		t.Errorf("the file and the API differ:\n%v\n%v", file, shown)
	}
}

func TestARejectedCallDoesNotRun(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	asked := api.ask(`call note_add {"name":"apple"}`)
	done := api.decide(asked.Result.Approval.UUID, `{"answer":"no","reason":"not today"}`)
	if done.Result.Response != "Operation cancelled by user. Reason: not today" || done.Conversation.Status != "active" {
		t.Errorf("after the rejection: %+v", done.Result)
	}
	if n := len(h.tools.called("note_add")); n != 0 {
		t.Errorf("the tool ran %d times", n)
	}
	if said := api.say(asked.Conversation.ID, "hello"); said.Result.Response != "You said: hello" {
		t.Errorf("the conversation is not usable any more: %+v", said.Result)
	}
	if refused := h.model.Refused(); len(refused) > 0 {
		t.Errorf("the model's API refused: %v", refused)
	}
}

func TestOfTwelveDecisionsAtOnceOneWinsAndTheToolRunsOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.whole()
	for range 5 {
		before := len(h.tools.called("note_add"))
		uuid := api.ask(`call note_add {"name":"x"}`).Result.Approval.UUID
		var won, lost atomic.Int32
		var group sync.WaitGroup
		for i := range 12 {
			group.Go(func() {
				r, err := api.try("POST", "/approvals/"+uuid, fmt.Sprintf(`{"approved":true,"by":"client-%d"}`, i))
				switch {
				case err != nil:
					t.Error(err)
				case r.Status == http.StatusOK:
					won.Add(1)
				case r.Status == http.StatusConflict && r.Body.Decision.Decision == "approved":
					lost.Add(1)
				default:
					t.Errorf("status %d: %s", r.Status, r.Raw)
				}
			})
		}
		group.Wait()
		if won.Load() != 1 || lost.Load() != 11 {
			t.Errorf("%d won and %d lost, want 1 and 11", won.Load(), lost.Load())
		}
		if n := len(h.tools.called("note_add")) - before; n != 1 {
			t.Errorf("the tool ran %d times", n)
		}
	}
}

func TestFiftyMessagesAtOnceAreAllAnsweredInOrder(t *testing.T) {
	h := newHome(t)
	api, _ := h.inside()
	id := api.want(201, "POST", "/conversations", "").Conversation.ID
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			text := fmt.Sprintf("message %d", i)
			r, err := api.try("POST", "/conversations/"+id+"/messages", messageJSON(text))
			if err != nil || r.Status != http.StatusOK || r.Body.Result.Response != "You said: "+text {
				t.Errorf("message %d: %v, status %d, %s", i, err, r.Status, r.Raw)
			}
		})
	}
	group.Wait()
	messages := api.conversation(id).Messages
	if len(messages) != 1+2*50 {
		t.Fatalf("%d messages, want 101", len(messages))
	}
	for i := 1; i < len(messages); i += 2 {
		if messages[i].Role != "user" || messages[i+1].Content != "You said: "+messages[i].Content {
			t.Errorf("message %d: %q is followed by %q", i, messages[i].Content, messages[i+1].Content)
		}
	}
}

func TestARetriedRequestGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	key := "Idempotency-Key: once-" + h.queue // the server may remember an earlier run
	first := api.ask("hello", key)
	again := api.ask("hello", key)
	if again.Conversation.ID != first.Conversation.ID || again.Result != first.Result {
		t.Errorf("retried start: %+v, first %+v", again, first)
	}
	other := api.do("POST", "/conversations", messageJSON("something else"), key)
	if other.Status != http.StatusUnprocessableEntity {
		t.Errorf("the key for another request: status %d: %s", other.Status, other.Raw)
	}
	id := first.Conversation.ID
	a := api.say(id, `call note_list`, "Idempotency-Key: two")
	b := api.say(id, `call note_list`, "Idempotency-Key: two")
	if a.Result != b.Result || len(h.tools.called("note_list")) != 1 {
		t.Errorf("retried message: %+v, first %+v, %d calls", b.Result, a.Result, len(h.tools.called("note_list")))
	}
	uuid := api.say(id, `call note_add {"name":"a"}`).Result.Approval.UUID
	c := api.decide(uuid, `{"approved":true}`, "Idempotency-Key: three")
	d := api.decide(uuid, `{"approved":true}`, "Idempotency-Key: three")
	if c.Result.Response != d.Result.Response || len(h.tools.called("note_add")) != 1 {
		t.Errorf("retried decision: %+v, first %+v", d.Result, c.Result)
	}
}

func TestCancelStopsTheTurnAndCloseEndsTheConversation(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	id := api.want(201, "POST", "/conversations", "").Conversation.ID
	answered := make(chan body)
	go func() { answered <- api.say(id, "call slow_read") }()
	<-h.tools.entered
	cancelled := api.want(200, "POST", "/conversations/"+id+"/cancel", `{"reason":"Changed my mind."}`)
	if !strings.HasPrefix(cancelled.Result.Response, "The turn was cancelled.") {
		t.Errorf("cancel: %+v", cancelled.Result)
	}
	if got := <-answered; got.Result.Response != cancelled.Result.Response {
		t.Errorf("the cancelled message was answered with %+v", got.Result)
	}
	if said := api.say(id, "still there?"); said.Result.Response != "You said: still there?" {
		t.Errorf("after the cancel: %+v", said.Result)
	}
	closed := api.want(200, "POST", "/conversations/"+id+"/close", "")
	if closed.Conversation.Status != "completed" {
		t.Errorf("close: %+v", closed.Conversation)
	}
	api.want(409, "POST", "/conversations/"+id+"/messages", messageJSON("anybody?"))
	api.want(200, "POST", "/conversations/"+id+"/close", "")
	if got := api.conversation(id); got.Status != "completed" || len(got.Messages) == 0 {
		t.Errorf("a completed conversation reads %+v", got)
	}
}

func TestTheListShowsConversationsNewestFirst(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api, _ := h.inside()
	var ids []string
	for i := range 5 {
		ids = append(ids, api.ask(fmt.Sprintf("number %d", i)).Conversation.ID)
	}
	waiting := api.ask(`call note_add {"name":"x"}`).Conversation.ID
	api.want(200, "POST", "/conversations/"+ids[0]+"/close", "")
	eventually(t, "the list shows every conversation", func() bool {
		s := api.want(200, "GET", "/conversations", "").Summary
		return s.Total == 6 && s.WaitingApproval == 1 && s.Completed == 1 && s.Active == 4
	})
	first := api.want(200, "GET", "/conversations?limit=2", "")
	if len(first.Conversations) != 2 || first.Conversations[0].ID != waiting || first.NextCursor == "" {
		t.Fatalf("first page: %+v", first)
	}
	seen := map[string]bool{}
	for page := first; ; page = api.want(200, "GET", "/conversations?limit=2&cursor="+page.NextCursor, "") {
		for _, c := range page.Conversations {
			seen[c.ID] = true
			if c.Messages != nil {
				t.Errorf("the list holds messages of %s", c.ID)
			}
		}
		if page.NextCursor == "" {
			break
		}
	}
	if len(seen) != 6 {
		t.Errorf("the pages show %d conversations, want 6", len(seen))
	}
	whole := api.want(200, "GET", "/conversations?include=messages", "")
	for _, c := range whole.Conversations {
		if len(c.Messages) < 3 {
			t.Errorf("with messages: %+v", c)
		}
	}
}
