package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// deletions keeps what was deleted.
func (m *many) deletions() *[]deletion.Input {
	asked := &[]deletion.Input{}
	m.DeleteFn = func(in deletion.Input) (deletion.Result, error) {
		*asked = append(*asked, in)
		return deletion.Result{Tombstone: &deletion.Tombstone{ConversationID: in.ConversationID, DeletedAt: epoch, Cause: in.Cause}}, nil
	}
	return asked
}

// wantNoDeletion has a response be deleted, and wants that to be refused, for good.
func (c *completions) wantNoDeletion(r reply, code, text string) {
	c.t.Helper()
	got := c.do("DELETE", "/v1/responses/"+r.text("id"), "")
	c.wantError(409, text, got)
	if got.text("error", "code") != code || got.header.Get("X-Should-Retry") != "false" {
		c.t.Errorf("%v %s", got.header, got.raw)
	}
}

func TestAResponseIsDeletedWithItsConversation(t *testing.T) {
	m := newMany(t)
	asked := m.deletions()
	c := chatting(t, m)
	first := c.respond(`{"input":"hi"}`)
	for id, s := range m.scripts {
		s.view.UpdatedAt = epoch.Add(time.Hour)
		got := c.want(200, c.do("DELETE", "/v1/responses/"+first.text("id"), ""))
		if got.text("id") != first.text("id") || got.text("object") != "response" || got.at("deleted") != true || len(got.body) != 3 {
			t.Error(got.raw)
		}
		if len(*asked) != 1 || (*asked)[0].ConversationID != id || (*asked)[0].Force || !(*asked)[0].UnchangedSince.Equal(epoch.Add(time.Hour)) {
			t.Errorf("asked for %+v", *asked)
		}
	}
}

// What is not all of its conversation is not deleted with it.
func TestAResponseBesideOthersIsNotDeleted(t *testing.T) {
	m := newMany(t)
	asked := m.deletions()
	c := chatting(t, m)
	first := c.respond(`{"input":"hi"}`)
	second := c.respond(fmt.Sprintf(`{"input":"more","previous_response_id":%q}`, first.text("id")))
	for _, r := range []reply{first, second} {
		c.wantNoDeletion(r, "conversation_has_more", "DELETE /conversations/")
	}
	unstored := c.respond(`{"input":"secret","store":false}`)
	c.want(404, c.do("DELETE", "/v1/responses/"+unstored.text("id"), ""))
	c.want(404, c.do("DELETE", "/v1/responses/resp_x", ""))
	c.want(404, c.do("DELETE", "/v1/responses/resp_"+strings.Repeat("0", 64), ""))
	if len(*asked) > 0 {
		t.Errorf("asked for %+v", *asked)
	}
}

func TestAResponseThatWaitsIsNotDeleted(t *testing.T) {
	m := newMany(t)
	notes(m)
	asked := m.deletions()
	c := chatting(t, m)
	waits := c.respond(`{"input":"drop all",` + declared + `}`)
	c.wantNoDeletion(waits, "waiting_approval", "?force=true")
	answer := fmt.Sprintf(`{"type":"mcp_approval_response","approval_request_id":%q,"approve":true}`, idOf(waits, "mcp_approval_request", "id"))
	decided := c.respond(fmt.Sprintf(`{"previous_response_id":%q,"input":[%s]}`, waits.text("id"), answer))
	for _, r := range []reply{waits, decided} { // each is a part of the turn
		c.wantNoDeletion(r, "conversation_has_more", "DELETE /conversations/")
	}
	if len(*asked) > 0 {
		t.Errorf("asked for %+v", *asked)
	}
}

func TestAResponseThatIsNotCompleteIsNotDeleted(t *testing.T) {
	m := newMany(t)
	m.work = func(s *script) func(contract.MessageSignal) { return s.begin }
	asked := m.deletions()
	c := chatting(t, m)
	begun := c.respond(`{"input":"hi","background":true}`)
	for _, s := range m.scripts {
		s.settled[s.sent[0].RequestID] = contract.Request{ID: s.sent[0].RequestID}
	}
	c.wantNoDeletion(begun, "response_not_complete", "/cancel")
	if len(*asked) > 0 {
		t.Errorf("asked for %+v", *asked)
	}
}

func TestADeletionOfAResponseThatIsRefusedOrTakesLong(t *testing.T) {
	m := newMany(t)
	c := chatting(t, m)
	path := "/v1/responses/" + c.respond(`{"input":"hi"}`).text("id")
	answer, err := deletion.Result{Refused: contract.KindBusy}, error(nil)
	m.DeleteFn = func(deletion.Input) (deletion.Result, error) { return answer, err }
	c.wantError(429, "has just changed", c.do("DELETE", path, ""))
	answer, err = deletion.Result{}, context.DeadlineExceeded
	if r := c.want(202, c.do("DELETE", path, "")); r.at("deleted") != false || r.header.Get("Retry-After") != "1" || r.header.Get("Location") != path {
		t.Errorf("%v %s", r.header, r.raw)
	}
	err = service.Deleted(deletion.Tombstone{ConversationID: someID, DeletedAt: epoch})
	c.want(410, c.do("DELETE", path, ""))
}
