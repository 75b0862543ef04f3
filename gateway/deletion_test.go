package gateway_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

func TestADeletionSaysWhatIsLeft(t *testing.T) {
	var got deletion.Input
	a := newAPI(t, &fakeBackend{DeleteFn: func(in deletion.Input) (deletion.Result, error) {
		got = in
		return deletion.Result{Tombstone: &deletion.Tombstone{ConversationID: in.ConversationID, Owner: "keys alice", DeletedAt: epoch, Cause: in.Cause}}, nil
	}})
	r := a.want(http.StatusOK, a.do("DELETE", "/conversations/"+someID+"?force=true", ""))
	if r.text("status") != "deleted" || r.text("deletion", "cause") != "request" || strings.Contains(r.raw, "keys alice") {
		t.Errorf("got %s", r.raw)
	}
	if got.ConversationID != someID || !got.Force || got.Cause != deletion.CauseRequest || got.At.IsZero() {
		t.Errorf("asked for %+v", got)
	}
	a.want(http.StatusBadRequest, a.do("DELETE", "/conversations/"+someID+"?force=yes", ""))
	a.want(http.StatusNotFound, a.do("DELETE", "/conversations/none", ""))
}

func TestADeletionThatIsRefusedOrTakesLong(t *testing.T) {
	answer := deletion.Result{Refused: contract.KindWaiting}
	var err error
	a := newAPI(t, &fakeBackend{DeleteFn: func(deletion.Input) (deletion.Result, error) { return answer, err }})
	ask := func() reply { return a.do("DELETE", "/conversations/"+someID, "") }
	if r := a.want(http.StatusConflict, ask()); !strings.Contains(r.text("error"), "force") {
		t.Errorf("got %s", r.raw)
	}
	answer, err = deletion.Result{}, context.DeadlineExceeded
	if r := a.want(http.StatusAccepted, ask()); r.text("status") != "running" || r.header.Get("Location") != "/conversations/"+someID {
		t.Errorf("got %s", r.raw)
	}
	err = service.NoConversation(someID)
	a.want(http.StatusNotFound, ask())
}

// Whoever may see a conversation learns that it was deleted, on every way in.
func TestADeletedConversationIsGone(t *testing.T) {
	t.Parallel()
	a := newTenancyAPI(t)
	const text = "conversation d1d1d1d1-1111-4111-8111-d1d1d1d1d1d1 was deleted on 2026-03-01 at 10:00:00 UTC by alice"
	for _, r := range requests(a.Routes()) {
		if r.object != "conversation" && r.object != "thread" || strings.Contains(r.path+r.body, ":short") { // lists have it no more
			continue
		}
		got := a.ask(r, identities["alice"], deleted)
		switch {
		case r.path == "/a2a" || r.path == "/:id":
			if got.refusal() != 404 {
				t.Errorf("%s: %d %s", r.name, got.status, got.raw)
			}
		case r.path == "/ag-ui":
			if got.status != http.StatusOK || !strings.Contains(got.raw, `"RUN_ERROR"`) || !strings.Contains(got.raw, text) || !strings.Contains(got.raw, `"code":"deleted"`) {
				t.Errorf("%s: %d %s", r.name, got.status, got.raw)
			}
		case strings.HasPrefix(r.path, "/v1/"):
			if got.status != http.StatusGone || got.text("error", "message") != text || got.text("error", "code") != "deleted" {
				t.Errorf("%s: %d %s", r.name, got.status, got.raw)
			}
		case got.status != http.StatusGone || got.text("error") != text || got.text("deletion", "by") != "alice" || strings.Contains(got.raw, "keys alice"):
			t.Errorf("%s: %d %s", r.name, got.status, got.raw)
		}
	}
}

// A request that started a conversation does not start it again when it is repeated after its end.
func TestAKeyOfADeletedConversationStartsNothing(t *testing.T) {
	var first service.StartInput
	gone := map[string]bool{}
	a := newAPI(t, &fakeBackend{
		StartFn: func(in service.StartInput) (service.StartResult, error) {
			first = in
			return service.StartResult{}, nil
		},
		ConversationFn: func(id, _ string) (contract.ConversationView, error) { return viewOf(id), nil },
	}, func(d *gateway.Deps) { d.Graves = goneIDs(gone) })
	ask := func() reply { return a.do("POST", "/conversations", "{}", "Idempotency-Key: k") }
	a.want(http.StatusCreated, ask())
	gone[first.Conversation.ID] = true
	first = service.StartInput{}
	if r := a.want(http.StatusGone, ask()); first.Conversation.ID != "" || !strings.Contains(r.text("error"), "was deleted") {
		t.Errorf("started %q: %s", first.Conversation.ID, r.raw)
	}
	a.want(http.StatusCreated, a.do("POST", "/conversations", "{}", "Idempotency-Key: another"))
}

type goneIDs map[string]bool

func (g goneIDs) Tombstone(_ context.Context, id string) (*deletion.Tombstone, error) {
	if !g[id] {
		return nil, nil
	}
	return &deletion.Tombstone{ConversationID: id, DeletedAt: epoch, Cause: deletion.CauseRequest}, nil
}
