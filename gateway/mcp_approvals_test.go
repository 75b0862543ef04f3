package gateway_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

func TestApprovalsByElicitation(t *testing.T) {
	bothEras(t, func(t *testing.T, options ...client.ClientOption) {
		for name, c := range map[string]struct {
			action  mcp.ElicitationResponseAction
			content map[string]any
			want    string
		}{
			"yes":           {mcp.ElicitationResponseActionAccept, map[string]any{"approve": true}, "completed approved: true"},
			"no":            {mcp.ElicitationResponseActionAccept, map[string]any{"approve": false, "reason": "no"}, "completed approved: false"},
			"nothing":       {mcp.ElicitationResponseActionAccept, map[string]any{"approve": "yes"}, "waiting "},
			"closed":        {mcp.ElicitationResponseActionCancel, nil, "waiting "},
			"declined, yes": {mcp.ElicitationResponseActionDecline, map[string]any{"approve": true}, "waiting "},
		} {
			m := newMany(t)
			withApprovals(m)
			var cards []string
			session := mcpClient(t, m, append([]client.ClientOption{client.WithElicitationHandler(elicitor(func(p mcp.ElicitationParams) mcp.ElicitationResponse {
				cards = append(cards, p.Message)
				return mcp.ElicitationResponse{Action: c.action, Content: c.content}
			}))}, options...))
			got, _ := callMCP(t, session, callOf("helper", map[string]any{"message": "drop all"}))
			if got.Status+" "+got.Response != c.want || len(cards) != 1 || !strings.Contains(cards[0], "Drop?") || !strings.Contains(cards[0], "/#/a/") {
				t.Errorf("%s: %+v, the cards are %q", name, got, cards)
			}
			for _, s := range m.scripts {
				for _, d := range s.decided {
					if d.Via != "mcp" {
						t.Errorf("%+v", d)
					}
				}
			}
		}
	})
}

func TestApprovalsWithoutElicitation(t *testing.T) {
	bothEras(t, func(t *testing.T, options ...client.ClientOption) {
		m := newMany(t)
		withApprovals(m)
		c := mcpClient(t, m, options)
		got, text := callMCP(t, c, callOf("helper", map[string]any{"message": "drop all"}))
		if got.Status != "waiting" || len(got.Waiting) != 1 || got.Waiting[0].Description != "Drop?" || !strings.Contains(got.Waiting[0].URL, "/#/a/"+got.Waiting[0].ID) {
			t.Fatalf("%+v", got)
		}
		if !strings.Contains(text, got.Waiting[0].URL) || !strings.Contains(text, got.Conversation) || codeIn.MatchString(text) {
			t.Error(text)
		}
		if again, _ := callMCP(t, c, callOf("helper", map[string]any{"conversation": got.Conversation})); again.Status != "waiting" {
			t.Errorf("%+v", again)
		}
		if text := failsMCP(t, c, callOf("helper", map[string]any{"message": "and then?", "conversation": got.Conversation})); !strings.Contains(text, "not sent") {
			t.Error(text)
		}
		s := m.scripts[got.Conversation]
		if len(s.decided) > 0 || len(s.sent) != 1 {
			t.Errorf("%v %v", s.decided, s.sent)
		}
		if err := s.decide(got.Waiting[0].ID, contract.DecideSignal{Approved: true, RequestID: uuid.NewString()}); err != nil {
			t.Fatal(err)
		}
		if again, _ := callMCP(t, c, callOf("helper", map[string]any{"conversation": got.Conversation})); again.Status+" "+again.Response != "completed approved: true" {
			t.Errorf("%+v", again)
		}
	})
}

// ofOne is a backend whose conversations are all alice's.
type ofOne struct{ *fakeBackend }

func (ofOne) Owner(context.Context, string) (service.Owner, error) {
	return service.OwnerOf(person("alice")), nil
}

func (b ofOne) Subject(ctx context.Context, uuid string) (service.Subject, error) {
	s, err := b.fakeBackend.Subject(ctx, uuid)
	s.Owner = service.OwnerOf(person("alice"))
	return s, err
}

// mcpAPI serves conversations that are all alice's, to callers with badges.
func mcpAPI(t *testing.T, m *many, change ...func(*gateway.Deps)) *api {
	return newAPI(t, m.fakeBackend, append(change, func(d *gateway.Deps) { d.Callers, d.Backend = badgesOnly, ofOne{m.fakeBackend} })...)
}

func TestWhoMayNotApproveIsNotAsked(t *testing.T) {
	m := newMany(t)
	withApprovals(m)
	server := httptest.NewServer(mcpAPI(t, m).Gateway)
	t.Cleanup(server.Close)
	for _, scopes := range [][]string{{"read"}, {"converse"}, {"converse", "read"}} {
		can := client.WithElicitationHandler(elicitor(func(mcp.ElicitationParams) mcp.ElicitationResponse {
			t.Errorf("%v is asked", scopes)
			return mcp.ElicitationResponse{}
		}))
		_, value, _ := strings.Cut(badge(person("alice", scopes...)), ": ")
		c := connectMCP(t, server.URL, map[string]string{headerBadge: value}, can)
		if slices.Contains(scopes, "converse") {
			if got, _ := callMCP(t, c, callOf("helper", map[string]any{"message": "drop all"})); got.Status != "waiting" {
				t.Errorf("%v: %+v", scopes, got)
			}
		} else if text := failsMCP(t, c, callOf("helper", map[string]any{"message": "drop all"})); !strings.Contains(text, "converse") {
			t.Error(text)
		}
	}
}

// answerable makes a call of the protocol without sessions, of a client that shows forms. more are
// other parameters.
func (a *api) answerable(who contract.Identity, arguments, more string) reply {
	a.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"helper","arguments":` + arguments + more + `,
		"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}`
	r := newRequest("POST", "/mcp", body, acceptMCP, badge(who), "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: helper")
	ctx, cancel := context.WithTimeout(a.t.Context(), 10*time.Second) // an answer that is taken waits for what it leads to
	defer cancel()
	return a.want(200, a.send(r.WithContext(ctx), body))
}

// Nobody decides but who was asked, and nothing but what was asked.
func TestAnAnswerIsToAQuestionOfThisAgent(t *testing.T) {
	m := newMany(t)
	withApprovals(m)
	a := mcpAPI(t, m)
	alice, other := person("alice", "converse", "approve"), person("bob", "converse", "approve", "approve_all", "read_all")
	asked := a.answerable(alice, `{"message":"drop all"}`, "")
	state := asked.text("result", "requestState")
	requests, _ := asked.at("result", "inputRequests").(map[string]any)
	if len(requests) != 1 || len(m.scripts) != 1 {
		t.Fatal(asked.raw)
	}
	var s *script
	for _, s = range m.scripts {
		s.write(func(v *contract.ConversationView) { // it opens after the question
			v.Pending = append(v.Pending, contract.PendingApproval{UUID: otherID, ToolName: "drop", ConversationID: v.ID})
		})
	}
	answer := func(a *api, who contract.Identity, state, uuid string) reply {
		return a.answerable(who, `{}`, fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:{"action":"accept","content":{"approve":true}}}`, state, uuid))
	}
	for uuid := range requests {
		for name, r := range map[string]reply{
			"a made-up state":  answer(a, alice, s.view.ID+" 1", uuid),
			"a changed state":  answer(a, alice, strings.Replace(state, uuid, otherID, 1), otherID),
			"a changed number": answer(a, alice, strings.Replace(state, `"round":1`, `"round":-9`, 1), uuid),
			"somebody else":    answer(a, other, state, uuid),
			"another agent":    answer(mcpAPI(t, m), alice, state, uuid),
		} {
			if !strings.Contains(r.raw, "requestState: it is not of a question") || len(s.decided) > 0 {
				t.Errorf("%s: %s", name, r.raw)
			}
		}
		if r := answer(a, alice, state, otherID); len(s.decided) > 0 {
			t.Errorf("another approval: %s", r.raw)
		}
		s.write(func(v *contract.ConversationView) { v.Pending = v.Pending[:1] })
		second := mcpAPI(t, m, func(d *gateway.Deps) { d.Keyring = a.keys }) // or the same gateway after a restart
		if r := answer(second, alice, state, uuid); len(s.decided) != 1 || !s.decided[uuid].Approved {
			t.Error(r.raw)
		}
	}
}

func TestWhatIsShownInPartIsNotAsked(t *testing.T) {
	m := newMany(t)
	withLongArguments(m)
	c := mcpClient(t, m, []client.ClientOption{client.WithElicitationHandler(elicitor(func(p mcp.ElicitationParams) mcp.ElicitationResponse {
		t.Errorf("the client is asked: %s", p.Message)
		return mcp.ElicitationResponse{}
	}))})
	got, text := callMCP(t, c, callOf("helper", map[string]any{"message": "drop all"}))
	if got.Status != "waiting" || !strings.Contains(text, got.Waiting[0].URL) {
		t.Errorf("%+v %s", got, text)
	}
}
