package llmtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"agent-stop-and-go/activities/llm/llmtest"
)

func askClaude(t *testing.T, url, body string, headers map[string]string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url+"/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", "k")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

const (
	claudeHi   = `{"role":"user","content":"hi"}`
	claudeCall = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{}}]}`
	claudeDone = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"}]}`
)

func claudeAsks(messages, more string) string {
	return `{"model":"m","max_tokens":9,"messages":[` + messages + `]` + more + `}`
}

func claudeResult(content string) string {
	return claudeAsks(claudeHi+","+claudeCall+`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a",`+content+`}]}`, "")
}

func claudeImage(media, data string) string {
	return claudeResult(`"content":[{"type":"image","source":{"type":"base64","media_type":"` + media + `","data":"` + data + `"}}]`)
}

func TestServerRefusesWhatAnthropicRefuses(t *testing.T) {
	tool := func(tool string) string { return claudeAsks(claudeHi, `,"tools":[`+tool+`]`) }
	says := func(role, content string) string {
		return claudeAsks(claudeHi+`,{"role":"`+role+`","content":[`+content+`]},`+claudeHi, "")
	}
	for name, tt := range map[string]struct{ body, want string }{
		"no JSON":                         {`{`, "not valid JSON"},
		"a list":                          {`[]`, "valid dictionary"},
		"no model":                        {`{"max_tokens":9,"messages":[` + claudeHi + `]}`, "model: Field required"},
		"no messages":                     {`{"model":"m","max_tokens":9}`, "messages: Field required"},
		"no limit":                        {`{"model":"m","messages":[` + claudeHi + `]}`, "max_tokens: Field required"},
		"no limit worth the name":         {`{"model":"m","max_tokens":0,"messages":[` + claudeHi + `]}`, "max_tokens: Input should be greater"},
		"an empty list of messages":       {claudeAsks("", ""), "at least one message is required"},
		"an unknown field":                {claudeAsks(claudeHi, `,"foo":1`), "foo: Extra inputs are not permitted"},
		"an unknown field inside":         {claudeAsks(`{"role":"user","content":[{"type":"text","text":"a","foo":1}]}`, ""), "messages.0.content.0.text.foo: Extra inputs are not permitted"},
		"too warm":                        {claudeAsks(claudeHi, `,"temperature":1.5`), "temperature: range: 0..1"},
		"a system message":                {claudeAsks(`{"role":"system","content":"x"}`, ""), "Unexpected role"},
		"an assistant first":              {claudeAsks(`{"role":"assistant","content":"x"},`+claudeHi, ""), "first message must use"},
		"an assistant last":               {claudeAsks(claudeHi+`,{"role":"assistant","content":"x"}`, ""), "prefill"},
		"no content":                      {claudeAsks(`{"role":"user","content":[]}`, ""), "non-empty content"},
		"an empty text":                   {claudeAsks(`{"role":"user","content":""}`, ""), "must be non-empty"},
		"a blank text":                    {claudeAsks(`{"role":"user","content":" \n"}`, ""), "non-whitespace"},
		"an empty text in the system":     {claudeAsks(claudeHi, `,"system":[{"type":"text","text":""}]`), "system: text content blocks must be non-empty"},
		"an unknown block":                {says("assistant", `{"type":"poem"}`), "Input tag 'poem'"},
		"an image of an assistant":        {says("assistant", `{"type":"image"}`), "Input tag 'image'"},
		"a call of a user":                {says("user", `{"type":"tool_use","id":"a","name":"x","input":{}}`), "Input tag 'tool_use'"},
		"an unanswered call":              {claudeAsks(claudeHi+","+claudeCall+","+claudeHi, ""), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a"},
		"an answer behind a text":         {claudeAsks(claudeHi+","+claudeCall+`,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a"}]}`, ""), "immediately after: a"},
		"an answer without a call":        {claudeAsks(claudeDone, ""), "unexpected `tool_use_id`"},
		"an answer to an earlier call":    {claudeAsks(claudeHi+","+claudeCall+","+claudeDone+","+`{"role":"assistant","content":"x"}`+","+claudeDone, ""), "unexpected `tool_use_id`"},
		"an ID twice":                     {claudeAsks(claudeHi+","+claudeCall+","+claudeDone+","+claudeCall+","+claudeDone, ""), "ids must be unique"},
		"a bad ID":                        {says("assistant", `{"type":"tool_use","id":"a.b","name":"x","input":{}}`), "messages.1.content.0.tool_use.id: String should match pattern"},
		"a bad name":                      {says("assistant", `{"type":"tool_use","id":"a","name":"x.y","input":{}}`), "tool_use.name: String should match pattern"},
		"arguments that are no object":    {says("assistant", `{"type":"tool_use","id":"a","name":"x","input":"{}"}`), "input: Input should be a valid dictionary"},
		"thoughts without signature":      {says("assistant", `{"type":"thinking","thinking":"x"}`), "signature: Field required"},
		"other thoughts":                  {says("assistant", `{"type":"thinking","thinking":"x","signature":"y"}`), "Invalid `signature` in `thinking` block"},
		"hidden thoughts without data":    {says("assistant", `{"type":"redacted_thinking"}`), "data: Field required"},
		"an image that failed":            {claudeResult(`"is_error":true,"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]`), "must be type \\\"text\\\" if `is_error`"},
		"an image of no known type":       {claudeImage("image/svg+xml", "PHN2Zy8+"), "media_type: Input should be 'image/jpeg'"},
		"an image of another type":        {claudeImage("image/jpeg", "iVBORw0KGgo="), "does not match the provided media type"},
		"an image in broken base64":       {claudeImage("image/png", "iVB"), "invalid base64 data"},
		"a document of an assistant":      {says("assistant", `{"type":"document"}`), "Input tag 'document'"},
		"a document of another type":      {says("user", `{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"aGk="}}`), "media_type: Input should be 'application/pdf'"},
		"what is no PDF":                  {says("user", `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}}`), "The PDF specified was not valid"},
		"a document with an empty title":  {says("user", `{"type":"document","title":"","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjc="}}`), "title: String should have at least 1"},
		"an image elsewhere":              {claudeResult(`"content":[{"type":"image","source":{"type":"url","url":"http://x"}}]`), "Extra inputs"},
		"a bad tool name":                 {tool(`{"name":"a.b","input_schema":{"type":"object"}}`), "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"},
		"a tool twice":                    {tool(`{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}`), "Tool names must be unique"},
		"a tool without schema":           {tool(`{"name":"a"}`), "input_schema: Field required"},
		"a schema that is no object":      {tool(`{"name":"a","input_schema":{"type":"string"}}`), "input_schema.type: Input should be 'object'"},
		"a choice of schemas":             {tool(`{"name":"a","input_schema":{"type":"object","anyOf":[]}}`), "does not support oneOf"},
		"a tool of another API":           {tool(`{"name":"a","parameters":{"type":"object"}}`), "Extra inputs"},
		"five marks":                      {claudeAsks(claudeHi, `,"system":[`+strings.Repeat(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},`, 4)+`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]`), "maximum of 4 blocks"},
		"an open object as a reply":       {claudeAsks(claudeHi, `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}`), "additionalProperties"},
		"no schema as a reply":            {claudeAsks(claudeHi, `,"output_config":{"format":{"type":"json_schema"}}`), "schema: Field required"},
		"a limit that is no number":       {`{"model":"m","max_tokens":"9","messages":[` + claudeHi + `]}`, "max_tokens: Input should be a valid integer"},
		"messages that are no list":       {`{"model":"m","max_tokens":9,"messages":{}}`, "messages: Input should be a valid list"},
		"results of an assistant":         {says("assistant", `{"type":"tool_result","tool_use_id":"a"}`), "Input tag 'tool_result'"},
		"a system that is a list of none": {claudeAsks(claudeHi, `,"system":[1]`), "system.0: Input should be a valid dictionary"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer()
			defer s.Close()
			s.Always(llmtest.Say("ok"))
			status, body := askClaude(t, s.URL(), tt.body, nil)
			if status != http.StatusBadRequest || !strings.Contains(body, tt.want) || !strings.Contains(body, `"error":{"message":`) || !strings.Contains(body, `"type":"invalid_request_error"`) {
				t.Errorf("%d %s", status, body)
			}
			if len(s.Refused()) != 1 {
				t.Errorf("refused %q", s.Refused())
			}
		})
	}
}

func TestServerWantsHeadersOfAnthropic(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	s.Always(llmtest.Say("ok"))
	for name, want := range map[string]int{"X-Api-Key": 401, "Anthropic-Version": 400, "Content-Type": 400} {
		if status, body := askClaude(t, s.URL(), claudeAsks(claudeHi, ""), map[string]string{name: ""}); status != want || !strings.Contains(body, `"type":"error"`) {
			t.Errorf("without %s: %d %s", name, status, body)
		}
	}
	if status, body := askClaude(t, s.URL(), claudeAsks(claudeHi, ""), map[string]string{"Anthropic-Version": "2022-01-01"}); status != 400 {
		t.Errorf("another version: %d %s", status, body)
	}
	s.RequireKey("secret")
	if status, body := askClaude(t, s.URL(), claudeAsks(claudeHi, ""), nil); status != 401 || !strings.Contains(body, `"type":"authentication_error"`) {
		t.Errorf("another key: %d %s", status, body)
	}
}

func TestServerNamesErrorsAsAnthropicDoes(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	for status, want := range map[int]string{
		400: "invalid_request_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large", 422: "invalid_request_error",
		429: "rate_limit_error", 500: "api_error", 503: "api_error", 529: "overloaded_error",
	} {
		s.Reply(llmtest.Fail(status, "no"))
		if got, body := askClaude(t, s.URL(), claudeAsks(claudeHi, ""), nil); got != status || body != `{"error":{"message":"no","type":"`+want+`"},"request_id":"req_llmtest","type":"error"}` {
			t.Errorf("%d: %d %s", status, got, body)
		}
	}
}

func TestServerAnswersAsAnthropicDoes(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	s.Always(llmtest.CallTools("I look.", llmtest.ToolCall("a", "x", `{"n":1}`), llmtest.ToolCall("b", "x", `{`)))
	fine := claudeAsks(claudeHi+","+claudeCall+","+claudeDone, `,"system":"x","tools":[{"name":"x","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}]`)
	status, body := askClaude(t, s.URL(), fine, nil)
	want := `{"id":"msg_llmtest","type":"message","role":"assistant","model":"llmtest-1","content":[{"type":"text","text":"I look."},` +
		`{"type":"tool_use","id":"a","name":"x","input":{"n":1}},{"type":"tool_use","id":"b","name":"x","input":"{"}],"stop_reason":"tool_use","stop_sequence":null,` +
		`"stop_details":null,"usage":{"input_tokens":16,"cache_creation_input_tokens":0,"cache_read_input_tokens":3,"output_tokens":10}}`
	if status != 200 || body != want {
		t.Errorf("%d %s", status, body)
	}
	s.Reply(llmtest.Think("Hm.", "ok"))
	status, body = askClaude(t, s.URL(), strings.Replace(fine, "{", `{"stream":true,`, 1), nil)
	var events []string
	for line := range strings.Lines(body) {
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			events = append(events, strings.TrimSpace(name))
		}
	}
	inOrder := "message_start content_block_start ping content_block_delta content_block_delta content_block_stop " +
		"content_block_start content_block_delta content_block_stop message_delta message_stop"
	if status != 200 || strings.Join(events, " ") != inOrder || !strings.Contains(body, `"thinking":"Hm.","type":"thinking_delta"`) {
		t.Errorf("%d %s", status, body)
	}
}
