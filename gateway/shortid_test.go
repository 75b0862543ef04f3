package gateway_test

import (
	"errors"
	"net/url"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// withShortIDs is a backend with conversations, of which it lists those that begin like the query.
func withShortIDs(t *testing.T, ids ...string) *fakeBackend {
	return &fakeBackend{
		ListFn: func(q service.ListQuery) (page service.Page[service.Item], err error) {
			if q.Prefix == "" {
				t.Error("all conversations are listed")
			}
			for _, item := range items(ids...).Items {
				if item.Title = "about 'it'"; len(item.ID) >= len(q.Prefix) && item.ID[:len(q.Prefix)] == q.Prefix {
					page.Items = append(page.Items, item)
				}
			}
			return page, nil
		},
		ConversationFn: func(id, _ string) (contract.ConversationView, error) { return viewOf(id), nil },
		TreeFn: func(id string) (contract.TreeView, error) {
			return contract.TreeView{ConversationID: id, Node: contract.Node{Type: contract.NodeLLM}}, nil
		},
	}
}

func TestPathsTakeShortIDs(t *testing.T) {
	a := newAPI(t, withShortIDs(t, someID, otherID))
	for _, short := range []string{someID[:4], someID[:6], someID[:12], url.PathEscape("#" + someID[:4])} {
		if got := a.want(200, a.do("GET", "/conversations/"+short, "")).text("conversation", "id"); got != someID {
			t.Errorf("%s: %s", short, got)
		}
		if got := a.want(200, a.do("GET", "/conversations/"+short+"/tree", "")).text("conversation_id"); got != someID {
			t.Errorf("%s: %s", short, got)
		}
	}
}

func TestUnknownAndAmbiguousShortIDsAreRefused(t *testing.T) {
	twin := someID[:5] + "0" + someID[6:]
	a := newAPI(t, withShortIDs(t, someID, twin, otherID))
	a.wantError(404, "conversation not found: #0000", a.do("GET", "/conversations/%230000", ""))
	for _, path := range []string{"/conversations/" + someID[:4], "/conversations/" + someID[:4] + "/events"} {
		a.wantError(409, "#"+someID[:6]+" (about 'it')", a.do("GET", path, ""))
		a.wantError(409, "#"+twin[:6], a.do("GET", path, ""))
	}
	a.wantError(400, "at least 4", a.do("GET", "/conversations?id=abc", ""))
}

func TestAFullIDIsNotLookedUp(t *testing.T) {
	b := withShortIDs(t)
	b.ListFn = func(service.ListQuery) (service.Page[service.Item], error) {
		t.Error("it is looked up")
		return service.Page[service.Item]{}, errors.New("no")
	}
	a := newAPI(t, b)
	a.want(200, a.do("GET", "/conversations/"+someID, ""))
	a.want(404, a.do("GET", "/conversations/xyz", ""))
}

func TestListsHaveShortIDs(t *testing.T) {
	a := newAPI(t, withShortIDs(t, someID, otherID))
	list, _ := a.want(200, a.do("GET", "/conversations?id=%23"+someID[:4], "")).at("conversations").([]any)
	if got := list[0].(map[string]any)["short_id"]; got != "#"+someID[:4] {
		t.Error(got)
	}
}
