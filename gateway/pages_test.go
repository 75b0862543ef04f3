package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// longConversation has five messages, of which two fit on a page.
func longConversation(t *testing.T) *api {
	view := contract.ConversationView{ID: someID, Status: contract.StatusActive}
	for n := range 5 {
		view.Transcript.Tail = append(view.Transcript.Tail, contract.Message{
			ID: fmt.Sprint("m", n), Role: contract.RoleUser, Content: contract.Inline(strings.Repeat("x", document.PageSize*2/5)),
		})
	}
	return newAPI(t, &fakeBackend{
		ConversationFn: func(_, requestID string) (contract.ConversationView, error) {
			v := view
			v.Request = &contract.Request{ID: requestID, Settled: true, Result: &contract.Result{}}
			return v, nil
		},
		SignalFn: func(string, string, any) error { return nil },
		AwaitFn: func(_ context.Context, _ string, requestIDs []string) (contract.AwaitResult, error) {
			return contract.AwaitResult{Conversation: view, Settled: []contract.Request{{ID: requestIDs[0], Settled: true, Result: &contract.Result{}}}}, nil
		},
	})
}

// wantMessages checks the number of messages in a reply, and of those before them.
func (r reply) wantMessages(t *testing.T, messages, before int) {
	t.Helper()
	got, _ := r.at("conversation", "messages").([]any)
	behind, _ := r.at("conversation", "messages_before").(float64)
	if len(got) != messages || int(behind) != before {
		t.Errorf("%d messages behind %v, expected %d behind %d: %.200s", len(got), behind, messages, before, r.raw)
	}
}

func TestALongConversationIsReadInPages(t *testing.T) {
	a := longConversation(t)
	show := "/conversations/" + someID
	for query, want := range map[string][2]int{
		"": {2, 3}, "?messages_before=3": {2, 1}, "?messages_before=1": {1, 0}, "?messages_before=99": {2, 3}, "?include=messages": {5, 0},
	} {
		r := a.do("GET", show+query, "")
		a.want(200, r)
		r.wantMessages(t, want[0], want[1])
	}
	for _, query := range []string{"?messages_before=0", "?messages_before=x", "?include=all", "?include=messages&messages_before=3"} {
		a.want(400, a.do("GET", show+query, ""))
	}
}

func TestRepliesHaveThePageOrAllMessages(t *testing.T) {
	a := longConversation(t)
	for _, path := range []string{"/messages", "/cancel", "/close"} {
		target, body := "/conversations/"+someID+path, `{"message":"go on"}`
		if path != "/messages" {
			body = "{}"
		}
		a.do("POST", target, body).wantMessages(t, 2, 3)
		a.do("POST", target+"?include=messages", body).wantMessages(t, 5, 0)
		a.want(400, a.do("POST", target+"?include=all", body))
	}
	request := "/conversations/" + someID + "/requests/" + otherID
	a.do("GET", request, "").wantMessages(t, 2, 3)
	a.do("GET", request+"?include=messages", "").wantMessages(t, 5, 0)
}
