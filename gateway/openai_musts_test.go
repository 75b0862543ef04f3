package gateway_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"agent-stop-and-go/workflows/contract"
)

// requiredOfResponse are the members that a response always has (Open Responses, ResponseResource).
var requiredOfResponse = strings.Fields(`id object created_at completed_at status incomplete_details model previous_response_id instructions output error
	tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning user usage
	max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key`)

// checkResponse checks what the specification of Open Responses demands of every response.
func checkResponse(t *testing.T, response map[string]any) {
	t.Helper()
	for _, name := range requiredOfResponse {
		if _, ok := response[name]; !ok {
			t.Errorf("a response without %s", name)
		}
	}
	items, ok := response["output"].([]any)
	if !ok {
		t.Errorf("output is %T", response["output"])
	}
	for _, i := range items {
		checkItem(t, i)
	}
}

// checkItem checks the members that each item has ("Required item fields").
func checkItem(t *testing.T, i any) (id string) {
	t.Helper()
	item, _ := i.(map[string]any)
	for _, name := range []string{"id", "type", "status"} {
		if text, _ := item[name].(string); text == "" {
			t.Errorf("an item without %s: %v", name, item)
		}
	}
	id, _ = item["id"].(string)
	return id
}

// itemEvents are the events of an item in their order, by its type.
var itemEvents = map[string]string{
	"message":              "output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done",
	"function_call":        "output_item.added function_call_arguments.delta function_call_arguments.done output_item.done",
	"mcp_approval_request": "output_item.added output_item.done",
}

// checkStream checks what the specification demands of every stream.
func checkStream(t *testing.T, r reply) {
	t.Helper()
	if got := r.header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("the stream is %s", got)
	}
	blocks := strings.Split(strings.TrimSpace(r.raw), "\n\n")
	if last := blocks[len(blocks)-1]; last != "data: [DONE]" {
		t.Errorf("the stream ends with %q", last)
	}
	var all []string
	ofItem, kinds, order := map[string][]string{}, map[string]string{}, []string{}
	number, final := int64(-1), map[string]any{}
	for _, block := range blocks[:len(blocks)-1] {
		head, data, _ := strings.Cut(block, "\ndata: ")
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err, block)
		}
		kind, _ := e["type"].(string)
		if head != "event: "+kind {
			t.Errorf("the event %q has the type %s", head, kind)
		}
		n, _ := e["sequence_number"].(float64)
		if int64(n) <= number {
			t.Errorf("%s has the number %v behind %d", kind, n, number)
		}
		number = int64(n)
		kind = strings.TrimPrefix(kind, "response.")
		if response, ok := e["response"].(map[string]any); ok {
			checkResponse(t, response)
			final = response
			all = append(all, kind)
			continue
		}
		id, _ := e["item_id"].(string)
		if item, ok := e["item"].(map[string]any); ok {
			id = checkItem(t, item)
			kinds[id], _ = item["type"].(string)
			if !slices.Contains(order, id) {
				order = append(order, id)
			}
		}
		if index, _ := e["output_index"].(float64); id == "" || slices.Index(order, id) != int(index) {
			t.Errorf("%s of item %q at %v", kind, id, index)
		}
		if list := ofItem[id]; len(list) == 0 || list[len(list)-1] != kind { // deltas may be repeated
			ofItem[id] = append(list, kind)
		}
	}
	for id, got := range ofItem {
		if want := itemEvents[kinds[id]]; strings.Join(got, " ") != want {
			t.Errorf("a %s has the events %s", kinds[id], got)
		}
	}
	if text := strings.Join(all, " "); text != "created in_progress completed" && text != "created in_progress failed" {
		t.Errorf("the response has the events %s", text)
	}
	var ids []string
	for _, i := range final["output"].([]any) {
		ids = append(ids, checkItem(t, i))
	}
	if !slices.Equal(ids, order) {
		t.Errorf("the response has the items %v, the stream %v", ids, order)
	}
}

// The demands that the specification of Open Responses (openresponses.org/specification) makes of
// servers with the word MUST, as far as a server has what they are about.
func TestOpenResponses(t *testing.T) {
	const tools = `"tools":[{"type":"function","name":"weather","parameters":{"type":"object"}},{"type":"function","name":"send"}]`
	calls := func(m *many) {
		m.work = func(s *script) func(contract.MessageSignal) {
			return func(msg contract.MessageSignal) {
				s.begin(msg)
				s.ask(msg, contract.PendingApproval{UUID: someUUID, ToolName: "weather", ToolArgs: contract.JSON{Raw: json.RawMessage(`{}`)}, Reason: contract.ReasonClientTool})
			}
		}
	}
	for name, c := range map[string]struct {
		set  func(*many)
		body string
	}{
		"a text":     {func(*many) {}, `{"model":"helper","input":"hi"`},
		"items":      {func(*many) {}, `{"model":"helper","input":[{"type":"message","role":"system","content":"be brief"},{"type":"message","role":"user","content":"hi"}]`},
		"a history":  {func(*many) {}, `{"model":"helper","input":[{"type":"message","role":"user","content":"hi"},{"type":"message","role":"assistant","content":"hello"},{"type":"message","role":"user","content":"and?"}]`},
		"an image":   {func(*many) {}, `{"model":"helper","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"what is it?"},{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]}]`},
		"a function": {calls, `{"model":"helper","input":"weather?",` + tools},
		"approvals":  {notes, `{"model":"helper","input":"drop all",` + declared},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMany(t)
				c.set(m)
				client := chatting(t, m)
				defer client.Close()
				plain := client.respond(c.body + `}`)
				if got := plain.header.Get("Content-Type"); got != "application/json" {
					t.Errorf("the reply is %s", got)
				}
				var response map[string]any
				if err := json.Unmarshal([]byte(plain.raw), &response); err != nil {
					t.Fatal(err)
				}
				checkResponse(t, response)
				if object, _ := response["conversation"].(map[string]any); object["id"] == "" {
					t.Error("it does not identify its conversation")
				}
				if len(response["output"].([]any)) == 0 {
					t.Error("there is no output")
				}
				checkStream(t, client.respond(c.body+`,"stream":true}`))
			})
		})
	}
	// "Servers MUST enforce allowed_tools as a hard constraint"; "none: the model MUST NOT call any tools".
	for choice, want := range map[string]string{
		`"none"`: "", `"auto"`: "weather send", `{"type":"function","name":"send"}`: "send",
		`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"weather"}]}`: "weather",
	} {
		m := newMany(t)
		chatting(t, m).respond(`{"input":"hi",` + tools + `,"tool_choice":` + choice + `}`)
		for _, s := range m.scripts {
			var offered []contract.Tool
			if raw := s.sent[0].Tools.Raw; len(raw) > 0 {
				if err := json.Unmarshal(raw, &offered); err != nil {
					t.Fatal(err)
				}
			}
			var names []string
			for _, tool := range offered {
				names = append(names, tool.Name)
			}
			if strings.Join(names, " ") != want {
				t.Errorf("%s leaves %v", choice, names)
			}
		}
	}
	// "When previous_response_id is provided, the server MUST load both the input and output".
	m := newMany(t)
	client := chatting(t, m)
	first := client.respond(`{"input":"hi"}`)
	second := client.respond(fmt.Sprintf(`{"input":"more","previous_response_id":%q}`, first.text("id")))
	if len(m.scripts) != 1 || second.text("previous_response_id") != first.text("id") {
		t.Errorf("%d conversations, %s", len(m.scripts), second.raw)
	}
}
