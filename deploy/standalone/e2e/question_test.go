package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/workflows/contract"
)

// counter is a tool server whose tools ask the user before they return. It outlives the agent.
type counter struct{ asked atomic.Int32 }

func newCounter(t *testing.T, h *home) *counter {
	c := &counter{}
	m := server.NewMCPServer("counter", "1.0.0", server.WithToolCapabilities(true), server.WithElicitation())
	add := func(name string, destructive bool, schema map[string]any) {
		tool := mcp.NewTool(name, mcp.WithReadOnlyHintAnnotation(!destructive), mcp.WithDestructiveHintAnnotation(destructive))
		m.AddTool(tool, func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			c.asked.Add(1)
			a, err := m.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{
				Message: "How many seats?", RequestedSchema: schema,
			}})
			if err != nil {
				return mcp.NewToolResultError(err.Error()), nil
			}
			content, err := json.Marshal(a.Content)
			return mcp.NewToolResultText(fmt.Sprintf("%s %s", a.Action, content)), err
		})
	}
	one := map[string]any{
		"type": "object", "required": []string{"seats"},
		"properties": map[string]any{"seats": map[string]any{"type": "integer", "minimum": 1}},
	}
	add("quote", false, one)
	add("book", true, map[string]any{
		"type": "object", "required": []string{"seats", "class"}, "properties": map[string]any{
			"seats": map[string]any{"type": "integer"}, "class": map[string]any{"type": "string", "enum": []string{"first", "second"}},
		},
	})
	add("survey", false, survey())
	web := httptest.NewServer(server.NewStreamableHTTPServer(m, server.WithStateful(true)))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	h.served = fmt.Sprintf("  - {name: counter, url: %q, elicitation: true}\n", web.URL+"/mcp")
	return c
}

// survey returns a form of many kilobytes.
func survey() map[string]any {
	fields := map[string]any{"seats": map[string]any{"type": "integer", "minimum": 1}}
	for i := range 40 {
		fields[fmt.Sprintf("note%02d", i)] = map[string]any{"type": "string", "description": strings.Repeat("What else? ", 100)}
	}
	return map[string]any{"type": "object", "required": []string{"seats"}, "properties": fields}
}

func TestAQuestionWithALongFormIsShownAndAnswered(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	newCounter(t, h)
	api, process := h.inside()
	asked := api.ask("call survey")
	p, id := asked.Result.Approval, asked.Conversation.ID
	if p == nil || !strings.Contains(asked.Result.Response, `"seats" (integer, required)`) {
		t.Fatalf("nothing was asked: %+v", asked)
	}
	for _, path := range []string{"/conversations/" + id, "/approvals/" + p.UUID} {
		if got := api.do("GET", path, ""); !strings.Contains(got.Raw, `"note39":{"description":"What else?`) || strings.Contains(got.Raw, `"blob"`) {
			t.Errorf("%s: %.2000s", path, got.Raw)
		}
	}
	if r := api.want(400, "POST", "/conversations/"+id+"/messages", messageJSON("many")); !strings.Contains(r.Error, `"seats" must be a number; accepted is`) {
		t.Errorf("refused with %q", r.Error)
	}
	if r := api.want(400, "POST", "/approvals/"+p.UUID, `{"content":{"seats":0}}`); !strings.Contains(r.Error, `"seats" must be at least 1`) {
		t.Errorf("refused with %q", r.Error)
	}
	if done := api.say(id, "4"); done.Result.Response != `The tool said: accept {"seats":4}` {
		t.Errorf("after the answer: %+v", done.Result)
	}
	second := api.say(id, "call survey").Result.Approval
	if done := api.decide(second.UUID, `{"content":{"seats":2,"note00":"near the door"}}`); done.Result.Response != `The tool said: accept {"note00":"near the door","seats":2}` {
		t.Errorf("after the second answer: %+v", done.Result)
	}
	keep(t, process.Client, "question-long", contract.ConversationWorkflowID(id))
	keep(t, process.Client, "question-long-approval", contract.ApprovalWorkflowID(second.UUID))
}

func TestAToolServerAsksAndAMessageAnswers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	newCounter(t, h)
	api, _ := h.inside()
	asked := api.ask("call quote")
	p := asked.Result.Approval
	if !asked.Result.WaitingApproval || p == nil || !strings.Contains(p.Description, "How many seats?") {
		t.Fatalf("nothing was asked: %+v", asked)
	}
	id := asked.Conversation.ID
	if got := api.do("GET", "/conversations/"+id, ""); !strings.Contains(got.Raw, `"reason":"question"`) || !strings.Contains(got.Raw, `"minimum":1`) {
		t.Errorf("the conversation while it waits: %s", got.Raw)
	}
	wrong := api.want(400, "POST", "/conversations/"+id+"/messages", messageJSON("many"))
	if !strings.Contains(wrong.Error, `"seats" must be a number; accepted is`) {
		t.Errorf("refused with %q", wrong.Error)
	}
	done := api.say(id, "4")
	if done.Result.Response != `The tool said: accept {"seats":4}` {
		t.Errorf("after the answer: %+v", done.Result)
	}
	if got := api.conversation(id); got.Status != "active" || got.PendingApproval != nil {
		t.Errorf("the conversation after it: %+v", got)
	}
	sameAsFile(t, h, api, id)
	data, err := os.ReadFile(filepath.Join(h.dir, "data", "conversation_"+id+".json"))
	if err != nil || strings.Contains(string(data), `"content": {`) {
		t.Errorf("the file has the answer's content, or %v: %s", err, data)
	}
	if again := api.say(id, "call quote"); again.Result.Approval == nil || again.Result.Approval.UUID == p.UUID {
		t.Errorf("the next call: %+v", again.Result)
	}
	if declined := api.say(id, "decline"); declined.Result.Response != `The tool said: decline null` {
		t.Errorf("after the no: %+v", declined.Result)
	}
}

func TestAnApprovedCallAsksAndTheApprovalAnswers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	newCounter(t, h)
	api, process := h.inside()
	asked := api.ask("call book")
	first := asked.Result.Approval
	second := api.decide(first.UUID, `{"approved":true}`).Result.Approval
	if second == nil || !strings.Contains(second.Description, "How many seats?") {
		t.Fatalf("nothing was asked: %+v", second)
	}
	for _, answer := range []string{`{"approved":true}`, `{"content":{"seats":2,"class":"third"}}`, `"2"`} {
		if r := api.want(400, "POST", "/approvals/"+second.UUID, answer); !strings.Contains(r.Error, "accepted is") {
			t.Errorf("%s: %q", answer, r.Error)
		}
	}
	done := api.decide(second.UUID, `{"content":{"seats":2,"class":"second"},"by":"alice"}`)
	if done.Result.Response != `The tool said: accept {"class":"second","seats":2}` {
		t.Errorf("after the answer: %+v", done.Result)
	}
	r := api.do("GET", "/approvals/"+second.UUID, "")
	if !strings.Contains(r.Raw, `"decision":"approved"`) || strings.Contains(r.Raw, `"content"`) {
		t.Errorf("the record: %s", r.Raw)
	}
	api.want(409, "POST", "/approvals/"+second.UUID, `{"content":{"seats":2,"class":"second"}}`)
	keep(t, process.Client, "question", contract.ConversationWorkflowID(asked.Conversation.ID))
	keep(t, process.Client, "question-approval", contract.ApprovalWorkflowID(second.UUID))
}

// A question ends with its worker, because its call ends too.
func TestTheServerAsksAgainWhenTheAgentDied(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	c := newCounter(t, h)
	api, p := h.outside()
	asked := api.ask("call quote")
	id, uuid := asked.Conversation.ID, asked.Result.Approval.UUID
	p.kill()
	api, _ = h.outside()
	eventually(t, "the server has asked again", func() bool {
		got := api.conversation(id).PendingApprovals
		return c.asked.Load() == 2 && len(got) == 1 && got[0].UUID != uuid
	})
	if r := api.want(409, "POST", "/approvals/"+uuid, `{"content":{"seats":1}}`); r.Decision.Decision != "cancelled" {
		t.Errorf("the first question: %+v", r)
	}
	if done := api.say(id, "7"); done.Result.Response != `The tool said: accept {"seats":7}` {
		t.Errorf("after the answer: %+v", done.Result)
	}
}
