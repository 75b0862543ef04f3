package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"agent-stop-and-go/workflows/contract"
)

// respond creates a response.
func (c *completions) respond(body string, headers ...string) reply {
	c.t.Helper()
	return c.want(200, c.do("POST", "/v1/responses", body, append(headers, c.headers...)...))
}

// outputs returns the types of the output items, and the texts of messages.
func outputs(r reply) (out []string) {
	items, _ := r.at("output").([]any)
	for _, i := range items {
		item, _ := i.(map[string]any)
		kind, _ := item["type"].(string)
		if content, _ := item["content"].([]any); len(content) > 0 {
			text, _ := content[0].(map[string]any)["text"].(string)
			kind = text
		}
		out = append(out, kind)
	}
	return out
}

// idOf returns the ID of an output item of a type.
func idOf(r reply, kind, member string) string {
	items, _ := r.at("output").([]any)
	for _, i := range items {
		if item, _ := i.(map[string]any); item["type"] == kind {
			id, _ := item[member].(string)
			return id
		}
	}
	return ""
}

func TestResponsesGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		first := c.respond(`{"input":"hi"}`)
		id := first.text("id")
		second := c.respond(fmt.Sprintf(`{"input":"more","previous_response_id":%q}`, id))
		third := c.respond(fmt.Sprintf(`{"input":"and more","conversation":%q}`, first.text("conversation", "id")))
		if len(m.scripts) != 1 || strings.Join(append(outputs(second), outputs(third)...), "|") != "answer to more|answer to and more" {
			t.Errorf("%d conversations, %q %q", len(m.scripts), outputs(second), outputs(third))
		}
		for _, r := range []reply{first, second, third} {
			again := c.want(200, c.do("GET", "/v1/responses/"+r.text("id"), ""))
			if strings.Join(outputs(again), "|") != strings.Join(outputs(r), "|") || again.text("status") != "completed" {
				t.Errorf("%q, then %q", outputs(r), outputs(again))
			}
			items := c.want(200, c.do("GET", "/v1/responses/"+r.text("id")+"/input_items", ""))
			if !strings.Contains(items.raw, `"input_text"`) {
				t.Error(items.raw)
			}
			rest := c.want(200, c.do("GET", "/v1/responses/"+r.text("id")+"/input_items?limit=1&order=asc&after="+items.text("last_id"), ""))
			if !strings.Contains(rest.raw, `"data":[]`) {
				t.Errorf("behind the last one: %s", rest.raw)
			}
			for _, query := range []string{"limit=0", "limit=101", "limit=x", "order=up"} {
				c.want(400, c.do("GET", "/v1/responses/"+r.text("id")+"/input_items?"+query, ""))
			}
		}
		fork := c.respond(fmt.Sprintf(`{"input":"something else","previous_response_id":%q}`, id))
		if len(m.scripts) != 2 || fork.at("conversation", "id") == first.at("conversation", "id") {
			t.Errorf("what follows a response that was followed is in its conversation; there are %d", len(m.scripts))
		}
	})
}

func TestResponsesWithTheHistoryAsInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		c.respond(`{"input":[{"role":"user","content":"hi"}],"store":false}`)
		c.respond(`{"input":[{"role":"user","content":"hi"},{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"answer to hi"}]},{"role":"user","content":[{"type":"input_text","text":"more"}]}]}`)
		if len(m.scripts) != 1 || strings.Join(m.sent(), "|") != "hi|more" {
			t.Errorf("%d conversations, sent %q", len(m.scripts), m.sent())
		}
	})
}

// Clients refer to items of stored responses instead of repeating them.
func TestAReferenceToAnItemIsItsResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		first := c.respond(`{"input":"hi"}`)
		body := fmt.Sprintf(`{"input":[{"role":"user","content":"hi"},{"type":"item_reference","id":%q},{"role":"user","content":"more"}]}`, idOf(first, "message", "id"))
		if second := c.respond(body); len(m.scripts) != 1 || outputs(second)[0] != "answer to more" {
			t.Errorf("%d conversations, %q", len(m.scripts), outputs(second))
		}
		if c.respond(strings.Replace(body, "more", "something else", 1)); len(m.scripts) != 2 {
			t.Errorf("%d conversations", len(m.scripts))
		}
	})
}

const declared = `"tools":[{"type":"mcp","server_label":"notes","server_url":"https://a.example","headers":{"Authorization":"secret"}}]`

// notes has every message wait for an approval of a call on the server notes.
func notes(m *many) {
	withApprovals(m)
	before := m.work
	m.work = func(s *script) func(contract.MessageSignal) {
		act := before(s)
		return func(msg contract.MessageSignal) {
			act(msg)
			s.view.Pending[0].Server = "notes"
		}
	}
}

func TestApprovalsAreItems(t *testing.T) {
	for name, more := range map[string]string{"declared": declared, "by header": `"store":true`} {
		for approve, want := range map[bool]string{true: "approved: true", false: "approved: false"} {
			m := newMany(t)
			notes(m)
			c := chatting(t, m)
			if name == "by header" {
				c.headers = []string{"X-Approvals: mcp"}
			}
			asked := c.respond(`{"input":"drop all",` + more + `}`)
			id := idOf(asked, "mcp_approval_request", "id")
			if id == "" || strings.Contains(asked.raw, "secret") || idOf(asked, "mcp_approval_request", "server_label") != "notes" {
				t.Fatalf("%s: %s", name, asked.raw)
			}
			answer := fmt.Sprintf(`{"type":"mcp_approval_response","approval_request_id":%q,"approve":%t}`, id, approve)
			for range 2 { // the second one is a repetition
				got := c.respond(fmt.Sprintf(`{"previous_response_id":%q,%s,"input":[%s]}`, asked.text("id"), more, answer))
				if strings.Join(outputs(got), "|") != want {
					t.Errorf("%s: %q", name, outputs(got))
				}
			}
			other := strings.Replace(answer, fmt.Sprint(approve), fmt.Sprint(!approve), 1)
			c.want(409, c.do("POST", "/v1/responses", fmt.Sprintf(`{"input":[%s]}`, other)))
		}
	}
}

// An item has no more than a name and arguments.
func TestACallOfAnotherAgentIsNoItem(t *testing.T) {
	for _, reason := range []contract.Reason{contract.ReasonRemote, contract.ReasonChanged} {
		m := newMany(t)
		notes(m)
		before := m.work
		m.work = func(s *script) func(contract.MessageSignal) {
			act := before(s)
			return func(msg contract.MessageSignal) {
				act(msg)
				s.view.Pending[0].Reason = reason
			}
		}
		asked := chatting(t, m).respond(`{"input":"drop all",` + declared + `}`)
		if idOf(asked, "mcp_approval_request", "id") != "" || !strings.Contains(asked.raw, "Drop?") {
			t.Errorf("%s: %s", reason, asked.raw)
		}
	}
}

// Without a declaration an approval is a text. An answer in the history decides nothing.
func TestAnAnswerInTheHistoryDecidesNothing(t *testing.T) {
	m := newMany(t)
	notes(m)
	c := chatting(t, m)
	asked := c.respond(`{"input":"drop all"}`)
	if strings.Contains(asked.raw, "mcp_approval_request") || !strings.Contains(asked.raw, "Approval needed") {
		t.Fatal(asked.raw)
	}
	var uuid string
	for _, s := range m.scripts {
		uuid = s.view.Pending[0].UUID
	}
	answer := `{"type":"mcp_approval_response","approval_request_id":"mcpr_` + strings.ReplaceAll(uuid, "-", "") + `","approve":true}`
	c.respond(`{"input":[{"role":"user","content":"drop all"},` + answer + `,{"role":"assistant","content":"ok"},{"role":"user","content":"hello"}]}`)
	for _, s := range m.scripts {
		if len(s.decided) > 0 {
			t.Errorf("%v", s.decided)
		}
	}
	c.want(400, c.do("POST", "/v1/responses", `{"input":[{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}]}`))
	c.want(400, c.do("POST", "/v1/responses", `{"input":[{"type":"mcp_approval_response","approval_request_id":"mcpr_`+strings.Repeat("0", 32)+`","approve":true}]}`))
	c.wantError(400, "approve is there twice", c.do("POST", "/v1/responses", `{"input":[`+strings.Replace(answer, `"approve":`, `"approve":false,"approve":`, 1)+`]}`))
	for _, s := range m.scripts {
		if len(s.decided) > 0 {
			t.Errorf("%v", s.decided)
		}
	}
}

// streamed is an event of a stream.
type streamed struct {
	Type     string
	Number   int64 `json:"sequence_number"`
	Delta    string
	Response map[string]any
}

func eventsIn(t *testing.T, raw string) (out []streamed) {
	t.Helper()
	for _, block := range strings.Split(strings.TrimSpace(raw), "\n\n") {
		_, data, _ := strings.Cut(block, "data: ")
		if data == "[DONE]" {
			continue
		}
		var e streamed
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err, block)
		}
		if !strings.HasPrefix(block, "event: "+e.Type+"\n") {
			t.Errorf("%q is an event of the type %s", block, e.Type)
		}
		out = append(out, e)
	}
	return out
}

func textIn(events []streamed) (text string) {
	for _, e := range events {
		text += e.Delta
	}
	return text
}

func TestAStreamGoesOnBehindEveryNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		c := chatting(t, m)
		defer c.Close()
		whole := eventsIn(t, c.respond(`{"input":"hi","stream":true}`).raw)
		id, _ := whole[0].Response["id"].(string)
		var types []string
		for _, e := range whole {
			types = append(types, e.Type)
		}
		const want = "response.created response.in_progress response.output_item.added response.content_part.added response.output_text.delta response.output_text.delta response.output_text.delta response.output_text.delta response.output_text.done response.content_part.done response.output_item.done response.completed"
		if strings.Join(types, " ") != want || textIn(whole) != "answer to hi" {
			t.Fatalf("%s %q", types, textIn(whole))
		}
		last := whole[len(whole)-1].Number
		for after := range last + 1 {
			rest := eventsIn(t, c.want(200, c.do("GET", fmt.Sprintf("/v1/responses/%s?stream=true&starting_after=%d", id, after), "")).raw)
			before := textIn(whole[:after+1])
			if after < last && (len(rest) == 0 || rest[0].Number != after+1 || rest[len(rest)-1].Number != last) || before+textIn(rest) != "answer to hi" {
				t.Errorf("behind %d: %+v", after, rest)
			}
		}
		longer := eventsIn(t, c.want(200, c.do("GET", "/v1/responses/"+id+"?stream=true&starting_after=1000", "")).raw)
		if len(longer) != 1 || longer[0].Type != "response.completed" || longer[0].Number != 1001 || !strings.Contains(fmt.Sprint(longer[0].Response), "answer to hi") {
			t.Errorf("%+v", longer)
		}
		c.want(400, c.do("GET", "/v1/responses/"+id+"?stream=true&starting_after=x", ""))
	})
}

func TestAResponseInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		m.work = func(s *script) func(contract.MessageSignal) { return s.begin }
		c := chatting(t, m)
		defer c.Close()
		begun := c.respond(`{"input":"hi","background":true}`)
		if begun.text("status") != "in_progress" {
			t.Error(begun.raw)
		}
		for _, s := range m.scripts {
			s.view.Request = &contract.Request{ID: s.sent[0].RequestID}
		}
		if got := c.want(200, c.do("GET", "/v1/responses/"+begun.text("id"), "")); got.text("status") != "in_progress" {
			t.Error(got.raw)
		}
		c.want(200, c.do("POST", "/v1/responses/"+begun.text("id")+"/cancel", ""))
		for _, s := range m.scripts {
			if len(s.settled) != 1 {
				t.Errorf("the turn was not cancelled: %v", s.settled)
			}
		}
	})
}

func TestFunctionsInResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMany(t)
		conversations := 0
		m.work = func(s *script) func(contract.MessageSignal) {
			conversations++
			asked := fmt.Sprintf("%08d-1111-4111-8111-111111111111", conversations)
			s.onDecide = func(uuid string, d contract.DecideSignal) {
				s.finish(contract.MessageSignal{RequestID: d.RequestID, Name: uuid}, "it is "+string(d.Content.Raw))
			}
			return func(msg contract.MessageSignal) {
				s.begin(msg)
				s.ask(msg, contract.PendingApproval{UUID: asked, ToolName: "weather", ToolArgs: contract.JSON{Raw: json.RawMessage(`{"city":"Bern"}`)}, Reason: contract.ReasonClientTool})
			}
		}
		c := chatting(t, m)
		defer c.Close()
		const tools = `"tools":[{"type":"function","name":"weather","parameters":{"type":"object"}}]`
		events := eventsIn(t, c.respond(`{"input":"weather?","stream":true,`+tools+`}`).raw)
		var types []string
		for _, e := range events {
			types = append(types, strings.TrimPrefix(e.Type, "response."))
		}
		if got := strings.Join(types, " "); got != "created in_progress output_item.added function_call_arguments.delta function_call_arguments.done output_item.done completed" {
			t.Error(got)
		}
		asked := c.respond(`{"input":"weather?",` + tools + `}`)
		call := idOf(asked, "function_call", "call_id")
		got := c.respond(fmt.Sprintf(`{"previous_response_id":%q,"input":[{"type":"function_call_output","call_id":%q,"output":"sunny"}]}`, asked.text("id"), call))
		if strings.Join(outputs(got), "|") != `it is {"content":"sunny"}` {
			t.Errorf("%q", outputs(got))
		}
	})
}

func TestBadResponses(t *testing.T) {
	c := chatting(t, newMany(t))
	for body, want := range map[string]int{
		`{}`:                          400,
		`{"input":""}`:                400,
		`{"input":[]}`:                400,
		`{"input":"x","model":"gpt"}`: 404,
		`{"input":"x","previous_response_id":"resp_1"}`:                                                404,
		`{"input":"x","previous_response_id":"resp_` + strings.Repeat("0", 64) + `"}`:                  404,
		`{"input":"x","conversation":"conv_1"}`:                                                        404,
		`{"input":"x","conversation":"c","previous_response_id":"r"}`:                                  400,
		`{"input":"x","tools":[{"type":"web_search"}]}`:                                                400,
		`{"input":"x","tools":[{"type":"mcp"}]}`:                                                       400,
		`{"input":[{"role":"robot","content":"x"}]}`:                                                   400,
		`{"input":[{"type":"message","role":"assistant","content":"x"}]}`:                              400,
		`{"input":[{"type":"function_call_output","call_id":"x","output":"y"}]}`:                       400,
		`{"input":"x","text":{"format":{"type":"json_schema","schema":{"$ref":"https://a.example"}}}}`: 400,
	} {
		if r := c.do("POST", "/v1/responses", body); r.status != want {
			t.Errorf("%s: %d %s", body, r.status, r.raw)
		}
	}
	c.want(404, c.do("GET", "/v1/responses/resp_x", ""))
}
