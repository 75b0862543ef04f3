package gateway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
)

// heart is a small image as a data URL.
const heart = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// pdfURL is a small PDF as a data URL.
const pdfURL = "data:application/pdf;base64,JVBERi0xLjcKMSAwIG9iajw8L1R5cGUvQ2F0YWxvZz4+ZW5kb2JqCiUlRU9GCg=="

// What the acceptance tests of Open Responses send over HTTP (src/lib/compliance-tests.ts there), by their names. Each
// reply is checked as a whole and as a stream. Those over a WebSocket are in openresponses_socket_test.go.
func TestORCases(t *testing.T) {
	const weather = `"tools":[{"type":"function","name":"get_weather","description":"the weather","parameters":{"type":"object","properties":{"location":{"type":"string"}},"required":["location"]}}]`
	for name, c := range map[string]struct {
		set  func(*many)
		body string
		want string // types of the output
	}{
		"basic-response":         {nil, `"input":[{"type":"message","role":"user","content":"Say hello."}]`, "message"},
		"a string as input":      {nil, `"input":"Say hello."`, "message"},
		"streaming-response":     {nil, `"input":[{"type":"message","role":"user","content":"Count from 1 to 5."}]`, "message"},
		"system-prompt":          {nil, `"input":[{"type":"message","role":"system","content":"You are a pirate."},{"type":"message","role":"user","content":"Say hello."}]`, "message"},
		"developer":              {nil, `"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief."}]},{"type":"message","role":"user","content":"Say hello."}]`, "message"},
		"tool-calling":           {withClientTool, `"input":[{"type":"message","role":"user","content":"The weather?"}],` + weather, "function_call"},
		"tool-calling-streaming": {withClientTool, `"input":"The weather?",` + weather, "function_call"},
		"image-input":            {nil, `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"What is it?"},{"type":"input_image","image_url":"` + heart + `"}]}]`, "message"},
		"file-input":             {nil, `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"What does it say?"},{"type":"input_file","filename":"plan.pdf","file_data":"` + pdfURL + `"}]}]`, "message"},
		"file-input-bare":        {nil, `"input":[{"type":"message","role":"user","content":[{"type":"input_file","filename":"plan.pdf","file_data":"` + strings.TrimPrefix(pdfURL, "data:application/pdf;base64,") + `"}]}]`, "message"},
		"multi-turn":             {nil, `"input":[{"type":"message","role":"user","content":"I am Alice."},{"type":"message","role":"assistant","content":"Hello Alice!"},{"type":"message","role":"user","content":"Who am I?"}]`, "message"},
		"assistant-phase":        {nil, `"input":[{"type":"message","role":"assistant","phase":"commentary","content":"I look."},{"type":"message","role":"assistant","phase":"final_answer","content":"Four."},{"type":"message","role":"user","content":"Repeat."}]`, "message"},
		"items with nulls":       {nil, `"input":[{"type":"message","role":"user","id":null,"status":null,"content":[{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"` + heart + `","detail":null}]}]`, "message"},
		"a call in the history":  {nil, `"input":[{"type":"message","role":"user","content":"The weather?"},{"type":"reasoning","summary":[]},{"type":"function_call","call_id":"c1","name":"get_weather","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"sunny"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Sunny."}]},{"type":"message","role":"user","content":"Thanks."}]`, "message"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMany(t)
				if c.set != nil {
					c.set(m)
				}
				client := chatting(t, m, takingPDFs)
				defer client.Close()
				body := `{"model":"helper",` + c.body
				whole := client.respond(body+`,"stream":false}`, "Authorization: Bearer anything")
				wantShape(t, "Response", whole.body)
				if whole.text("status") != "completed" || outputTypes(whole) != c.want || whole.text("object") != "response" || whole.text("model") != "helper" {
					t.Error(whole.raw)
				}
				final := wantEvents(t, decoded(t, client.respond(body+`,"stream":true}`, "Authorization: Bearer anything")), 0, "completed")
				if final["status"] != "completed" || len(final["output"].([]any)) == 0 {
					t.Errorf("%v", final)
				}
			})
		})
	}
}

// A compaction is made by the model, and stands for what was said before.
func TestORCompaction(t *testing.T) {
	m := newMany(t)
	c := chatting(t, m)
	const launch = `{"type":"message","role":"user","content":"We launch on Tuesday."},{"type":"message","role":"assistant","content":"Understood."}`
	r := c.want(200, c.do("POST", "/v1/responses/compact", `{"model":"helper","prompt_cache_key":"k","instructions":"keep dates","input":[`+launch+`,{"type":"function_call","call_id":"c","name":"date","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"Monday"}]}`))
	wantShape(t, "Compaction", r.body)
	if outputTypes(r) != "compaction" {
		t.Fatal(r.raw)
	}
	for _, s := range m.scripts {
		text := s.sent[0].Text.Inline
		for _, part := range []string{"Summarize the conversation", "keep dates", "We launch on Tuesday.", "Understood.", "call of date", "Monday"} {
			if !strings.Contains(text, part) {
				t.Errorf("the model is not told %q in %q", part, text)
			}
		}
		if s.started.Agent.Tree == nil || s.started.Agent.Tree.Name != "plain" || !s.started.Task {
			t.Errorf("it is asked as %+v", s.started)
		}
	}
	item, err := json.Marshal(r.at("output").([]any)[0])
	if err != nil {
		t.Fatal(err)
	}
	summaries := maps.Clone(m.scripts)
	first := c.respond(`{"model":"helper","store":false,"tools":[],"input":[` + string(item) + `,{"type":"message","role":"user","content":"Go on."}]}`)
	wantShape(t, "Response", first.body)
	if len(m.scripts) != len(summaries)+1 {
		t.Error("what goes on with a compaction is in the conversation of the summary")
	}
	c.respond(`{"model":"helper","store":false,"input":[` + string(item) + `,{"role":"user","content":"Go on."},{"role":"assistant","content":"answer to Go on."},{"role":"user","content":"And more."}]}`)
	maps.DeleteFunc(m.scripts, func(id string, _ *script) bool { return summaries[id] != nil })
	if len(m.scripts) != 1 || outputs(first)[0] != "answer to Go on." {
		t.Errorf("%d conversations, %q", len(m.scripts), outputs(first))
	}
	for _, s := range m.scripts {
		if text := s.sent[0].Text.Inline; !strings.Contains(text, "We launch on Tuesday.") || strings.Contains(text, `assistant: ""`) {
			t.Errorf("the model is told %q", text)
		}
	}
	stored := c.respond(`{"input":"Remember papaya."}`)
	again := c.want(200, c.do("POST", "/v1/responses/compact", fmt.Sprintf(`{"model":"helper","previous_response_id":%q}`, stored.text("id"))))
	wantShape(t, "Compaction", again.body)
	for body, want := range map[string]struct {
		status int
		param  string
	}{
		`{"input":"hi"}`:                                  {400, "model"},
		`{"model":"helper"}`:                              {400, "input"},
		`{"model":"gpt-4o","input":"hi"}`:                 {404, "model"},
		`{"model":"helper","previous_response_id":"r"}`:   {404, "previous_response_id"},
		`{"model":"helper","input":[{"role":"robot"}]}`:   {400, "input[0].role"},
		`{"model":"helper","input":[{"type":"message"}]}`: {400, "input[0].role"},
	} {
		c.wantFault(want.status, want.param, c.do("POST", "/v1/responses/compact", body))
	}
}
