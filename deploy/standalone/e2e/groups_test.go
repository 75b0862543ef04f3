package e2e_test

import (
	"fmt"
	"strings"
	"testing"
)

const (
	shop = "X-Groups: Shop"
	dave = "X-Subject: dave"
)

// TestAGroupSharesItsConversations asks the search of the server, too.
func TestAGroupSharesItsConversations(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.extra = `auth: [{type: proxy, from: [127.0.0.1], header: X-Subject, groups_header: X-Groups, shared_groups: [Shop, Office]}]
limits: {caller: {conversations: 2}}
`
	api, _ := h.inside()
	asked := api.ask(`call note_add {"name":"x"}`, alice, shop)
	id, uuid := asked.Conversation.ID, asked.Result.Approval.UUID
	api.ask("hello", bob)
	lists := []string{"/conversations", "/approvals"}
	for _, path := range lists {
		eventually(t, "the group finds it in "+path, func() bool { return strings.Contains(api.do("GET", path, "", carol, shop).Raw, id) })
	}
	for _, caller := range [][]string{{carol}, {carol, "X-Groups: shop"}, {carol, ops}} {
		for _, path := range lists {
			if got := api.do("GET", path, "", caller...); got.Status != 200 || strings.Contains(got.Raw, id) {
				t.Errorf("%s of %q: %d %s", path, caller, got.Status, got.Raw)
			}
		}
		api.want(404, "GET", "/conversations/"+id, "", caller...)
	}
	api.want(200, "GET", "/conversations/"+id, "", carol, shop)
	api.want(200, "GET", "/approvals/"+uuid, "", carol, shop)
	api.want(403, "POST", "/approvals/"+uuid, `{"approved":true}`, carol, shop)
	api.want(200, "POST", "/approvals/"+uuid, `{"approved":true}`, alice)
	api.say(id, "hello", carol, shop)
	api.want(403, "DELETE", "/conversations/"+id, "", carol, shop)

	for i := range 2 {
		api.want(201, "POST", "/conversations", "{}", dave, fmt.Sprint("Idempotency-Key: ", i))
	}
	for range 2 { // at first from what the gateway knows, then from what the search finds
		if got := api.do("POST", "/conversations", "{}", dave, "Idempotency-Key: 2"); got.Status != 429 {
			t.Errorf("a third open conversation: %d %s", got.Status, got.Raw)
		}
		api.want(201, "POST", "/conversations", "{}", dave, "Idempotency-Key: 0")
		eventually(t, "the search finds both", func() bool { return strings.Contains(api.do("GET", "/conversations", "", dave).Raw, `"total":2`) })
	}
}
