package gateway_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract"
)

func TestORBodiesAreJSON(t *testing.T) {
	c := chatting(t, newMany(t))
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded"} {
		c.want(415, c.do("POST", "/v1/responses", `{"input":"hi"}`, "Content-Type: "+kind))
	}
	c.want(400, c.do("POST", "/v1/responses", `{"input":`))
}

func TestORAuthorization(t *testing.T) {
	c := chatting(t, newMany(t), func(d *gateway.Deps) { d.Callers = badgesOnly })
	r := c.want(401, c.do("POST", "/v1/responses", `{"input":"hi"}`))
	wantShape(t, "Refusal", r.body)
	c.want(401, c.do("POST", "/v1/responses/compact", `{"model":"helper","input":"hi"}`))
	c.want(401, c.do("GET", "/v1/responses", "", "Upgrade: websocket", "Connection: Upgrade"))
	c.respond(`{"input":"hi"}`, badge(person("alice", "converse")))
}

func TestORRepliesAreJSON(t *testing.T) {
	c := chatting(t, newMany(t))
	first := c.respond(`{"input":"hi"}`)
	for _, r := range []reply{
		first, c.do("GET", "/v1/responses/"+first.text("id"), ""), c.do("GET", "/v1/responses/"+first.text("id")+"/input_items", ""),
		c.do("POST", "/v1/responses/compact", `{"model":"helper","input":"hi"}`), c.do("POST", "/v1/responses", `{`), c.do("GET", "/v1/responses/none", ""), c.do("GET", "/v1/responses", ""),
	} {
		if kind := r.header.Get("Content-Type"); kind != "application/json" || !json.Valid([]byte(r.raw)) {
			t.Errorf("%d %s: %s", r.status, kind, r.raw)
		}
	}
}

func TestORErrors(t *testing.T) {
	c := chatting(t, newMany(t))
	for body, want := range map[string]struct {
		status            int
		kind, code, param string
	}{
		`{"input":"x","model":"gpt-4o"}`:                                                               {404, "invalid_request_error", "model_not_found", "model"},
		`{"input":"x","previous_response_id":"resp_1"}`:                                                {404, "invalid_request_error", "previous_response_not_found", "previous_response_id"},
		`{"input":"x","previous_response_id":"resp_` + strings.Repeat("0", 64) + `"}`:                  {404, "invalid_request_error", "previous_response_not_found", "previous_response_id"},
		`{"input":[{"role":"user","content":"a"},{"role":"robot","content":"x"}]}`:                     {400, "invalid_request_error", "invalid", "input[1].role"},
		`{"input":"x","temperature":"hot"}`:                                                            {400, "invalid_request_error", "invalid", "temperature"},
		`{"input":"x","parallel_tool_calls":"no"}`:                                                     {400, "invalid_request_error", "invalid", "parallel_tool_calls"},
		`{"input":"x","tool_choice":"some"}`:                                                           {400, "invalid_request_error", "invalid", "tool_choice"},
		`{"input":"x","metadata":{"` + strings.Repeat("k", 65) + `":"v"}}`:                             {400, "invalid_request_error", "invalid", "metadata"},
		`{"input":"x","text":{"format":{"type":"yaml"}}}`:                                              {400, "invalid_request_error", "invalid", "text.format"},
		`{"input":"x","text":{"format":{"type":"json_schema","schema":{"$ref":"https://a.example"}}}}`: {400, "invalid_request_error", "invalid", "text.format"},
		`{"input":"x","background":true,"store":false}`:                                                {400, "invalid_request_error", "invalid", "background"},
		`{"input":[{"type":"compaction","encrypted_content":"gAAAA"},{"role":"user","content":"x"}]}`:  {400, "invalid_request_error", "invalid", "input[0].encrypted_content"},
	} {
		r := c.do("POST", "/v1/responses", body)
		c.wantFault(want.status, want.param, r)
		if r.text("error", "code") != want.code || r.text("error", "type") != want.kind || r.text("error", "message") == "" {
			t.Errorf("%s: %s", body, r.raw)
		}
	}
}

func TestORFiles(t *testing.T) {
	m := newMany(t)
	c := chatting(t, m)
	file := func(part string) string {
		return `{"input":[{"role":"user","content":[{"type":"input_text","text":"read it"},{"type":"input_file",` + part + `}]}]}`
	}
	r := c.respond(file(`"filename":"a.txt","file_data":"data:text/plain;base64,aGVsbG8="`))
	if !strings.Contains(r.raw, "hello") || !strings.Contains(r.raw, "a.txt") {
		t.Error(r.raw)
	}
	for _, part := range []string{`"file_url":"https://a.example/b.pdf"`, `"file_id":"file-1"`, `"filename":"a.txt"`} {
		c.wantFault(400, "input[0].content[1]", c.do("POST", "/v1/responses", file(part)))
	}
}

func TestORFunctions(t *testing.T) {
	for _, stream := range []bool{false, true} {
		m := newMany(t)
		withClientTool(m)
		c := chatting(t, m)
		first := c.respond(`{"model":"helper","input":"weather?","tools":[{"type":"function","name":"get_weather","strict":true}],"tool_choice":{"type":"function","name":"get_weather"}}`)
		wantShape(t, "Response", first.body)
		call, arguments := idOf(first, "function_call", "call_id"), idOf(first, "function_call", "arguments")
		if call == "" || !json.Valid([]byte(arguments)) || idOf(first, "function_call", "name") != "get_weather" {
			t.Fatal(first.raw)
		}
		body := fmt.Sprintf(`{"model":"helper","previous_response_id":%q,"input":[{"type":"function_call_output","call_id":%q,"output":"64 degrees and clear"}],"stream":%t}`, first.text("id"), call, stream)
		second := c.respond(body)
		if stream {
			wantEvents(t, decoded(t, second), 0, "completed")
		} else {
			wantShape(t, "Response", second.body)
		}
		if !strings.Contains(second.raw, "the tool said 64 degrees and clear") || len(m.scripts) != 1 {
			t.Error(second.raw)
		}
	}
}

func TestORPreviousResponse(t *testing.T) {
	m := newMany(t)
	c := chatting(t, m)
	first := c.respond(`{"model":"helper","input":"Remember papaya."}`)
	second := c.respond(fmt.Sprintf(`{"model":"helper","input":"Which word?","previous_response_id":%q}`, first.text("id")))
	wantShape(t, "Response", second.body)
	if len(m.scripts) != 1 || second.text("previous_response_id") != first.text("id") { // the conversation has what was said
		t.Errorf("%d conversations, %s", len(m.scripts), second.raw)
	}
	for _, r := range []reply{first, second} {
		if id := r.text("conversation", "id"); id == "" || id != first.text("conversation", "id") {
			t.Error(r.raw)
		}
	}
	for _, body := range []string{`{"input":"secret","store":false}`, `{"input":"secret","store":false,"stream":true}`} { // what is not stored is not found
		var id string
		if r := c.respond(body); r.text("id") != "" {
			id = r.text("id")
		} else {
			id, _ = wantEvents(t, decoded(t, r), 0, "completed")["id"].(string)
		}
		c.want(404, c.do("GET", "/v1/responses/"+id, ""))
		c.want(404, c.do("GET", "/v1/responses/"+id+"/input_items", ""))
		c.wantFault(404, "previous_response_id", c.do("POST", "/v1/responses", fmt.Sprintf(`{"input":"x","previous_response_id":%q}`, id)))
	}
}

// What follows a response that was followed already gets what was said as context, in its order.
func TestORPreviousResponseInOrder(t *testing.T) {
	m := newMany(t)
	c := chatting(t, m)
	first := c.respond(`{"input":"one"}`)
	second := c.respond(fmt.Sprintf(`{"input":"two","previous_response_id":%q}`, first.text("id")))
	c.respond(fmt.Sprintf(`{"input":"three","previous_response_id":%q}`, second.text("id")))
	fork := c.respond(fmt.Sprintf(`{"input":"other","previous_response_id":%q}`, second.text("id")))
	id, ok := strings.CutPrefix(fork.text("conversation", "id"), "conv_")
	if !ok || len(m.scripts) != 2 {
		t.Fatalf("%d conversations, %s", len(m.scripts), fork.raw)
	}
	for key, s := range m.scripts {
		if strings.ReplaceAll(key, "-", "") != id {
			continue
		}
		text, at := s.sent[0].Text.Inline, -1
		for _, said := range []string{`user: "one"`, `assistant: "answer to one"`, `user: "two"`, `assistant: "answer to two"`, "\n\nother"} {
			next := strings.Index(text, said)
			if next <= at {
				t.Errorf("%s is at %d, what was before it at %d, in %q", said, next, at, text)
			}
			at = next
		}
		if strings.Contains(text, "three") {
			t.Errorf("it has what came later: %q", text)
		}
	}
}

func TestORHostedTools(t *testing.T) {
	c := chatting(t, newMany(t))
	for _, tool := range []string{`{"type":"file_search","vector_store_ids":["vs_1"]}`, `{"type":"web_search","external_web_access":false}`, `{"type":"acme:search"}`} {
		c.wantFault(400, "tools[0]", c.do("POST", "/v1/responses", `{"input":"hi","tools":[`+tool+`]}`))
	}
	c.want(400, c.do("POST", "/v1/responses", `{"input":[{"role":"user","content":[{"type":"input_image","image_url":"https://a.example/b.png"}]}]}`))
}

// A function that the choice leaves out is not offered, so that nothing calls it. A named one is the only one that the first
// reply may call (behind the arrow).
func TestORToolChoice(t *testing.T) {
	const tools = `"tools":[{"type":"function","name":"weather","parameters":{"type":"object"}},{"type":"function","name":"send"}]`
	for choice, want := range map[string]string{
		`"none"`: "", `"auto"`: "weather send", `null`: "weather send", `{"type":"function","name":"send"}`: "weather send -> send", `"required"`: "weather send -> weather send",
		`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"weather"}]}`: "weather",
		`{"type":"allowed_tools","tools":[{"type":"function","name":"weather"}]}`:               "weather",
	} {
		m := newMany(t)
		r := chatting(t, m).respond(`{"input":"hi",` + tools + `,"tool_choice":` + choice + `}`)
		wantShape(t, "Response", r.body)
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
			got := strings.Join(names, " ")
			if call := s.sent[0].ToolChoice.Call; len(call) > 0 {
				got += " -> " + strings.Join(call, " ")
			}
			if got != want {
				t.Errorf("%s leaves %s", choice, got)
			}
		}
	}
}

// Hints and members that are not known change nothing.
func TestORHints(t *testing.T) {
	c := chatting(t, newMany(t))
	for _, hint := range []string{
		`"service_tier":"auto"`, `"service_tier":"priority"`, `"service_tier":"flex"`, `"prompt_cache_key":"k","safety_identifier":"s","user":"u"`, `"acme_thing":{"a":1}`,
		`"temperature":0.2,"top_p":0.5,"presence_penalty":1,"frequency_penalty":1,"top_logprobs":2,"max_output_tokens":16,"max_tool_calls":1`,
		`"reasoning":{"effort":"low","summary":"auto"}`, `"include":["reasoning.encrypted_content"]`, `"metadata":{"a":"b"}`, `"instructions":"be brief"`,
		`"text":{"verbosity":"low"}`, `"text":{"format":{"type":"text"}}`, `"text":{"format":null}`, `"text":null,"tools":null,"tool_choice":null,"metadata":null,"temperature":null`,
		`"text":{"format":{"type":"json_schema","name":"a","schema":{"type":"object"},"strict":true}}`, `"stream_options":{"include_obfuscation":false}`,
	} {
		r := c.respond(`{"input":"hi",` + hint + `}`)
		wantShape(t, "Response", r.body)
		if r.text("status") != "completed" || r.text("service_tier") == "" {
			t.Errorf("%s: %s", hint, r.raw)
		}
	}
}
