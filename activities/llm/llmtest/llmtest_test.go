package llmtest_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

func TestScriptedTakesStepsInOrderAndThenSaysThatNoneIsLeft(t *testing.T) {
	m := llmtest.Script(llmtest.Call("x", `{"a":1}`), llmtest.Err(contract.KindModelUnavailable, "down"))
	m.Then(llmtest.Text("done"))
	first, err := m.Generate(t.Context(), llm.Request{Model: "one"})
	if err != nil || first.Calls[0].Name != "x" || first.Finish != llm.FinishToolCalls {
		t.Errorf("first = %+v, %v", first, err)
	}
	if _, err = m.Generate(t.Context(), llm.Request{Model: "two"}); err == nil || err.Error() != "down" {
		t.Errorf("second: %v", err)
	}
	if third, err := m.Generate(t.Context(), llm.Request{}); err != nil || third.Text != "done" || m.Left() != 0 {
		t.Errorf("third = %+v, %v", third, err)
	}
	_, err = m.Generate(t.Context(), llm.Request{})
	var e *llm.Error
	if !errors.As(err, &e) || !e.Kind.Permanent() || !strings.Contains(e.Message, "no answer for request 4") {
		t.Errorf("fourth: %v", err)
	}
	if r := m.Requests(); len(r) != 4 || r[1].Model != "two" {
		t.Errorf("requests %+v", r)
	}
}

func TestScriptedIsSafeForConcurrentUse(t *testing.T) {
	m := llmtest.Func(func(r llm.Request) (llm.Reply, error) { return llm.Reply{Text: r.Model}, nil })
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if r, err := m.Generate(t.Context(), llm.Request{Model: "m"}); err != nil || r.Text != "m" {
				t.Errorf("reply %+v, %v", r, err)
			}
		})
	}
	all.Wait()
	if n := len(m.Requests()); n != 50 {
		t.Errorf("%d requests", n)
	}
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	res, err := http.Post(url+"/chat/completions", "application/json; charset=utf-8", strings.NewReader(body))
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

const asks = `{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[` +
	`{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"x","arguments":"{}"}}]}`

// file returns a request with a file.
func file(members string) string {
	return `{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{` + members + `}}]}]}`
}

func TestServerRefusesWhatTheRealOneRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"no JSON":                      {`{`, "could not parse"},
		"no model":                     {`{"messages":[{"role":"user","content":"x"}]}`, "model parameter"},
		"no messages":                  {`{"model":"m","messages":[]}`, "empty array"},
		"an unknown argument":          {`{"model":"m","messages":[{"role":"user","content":"x"}],"foo":1}`, "Unrecognized request argument supplied: foo"},
		"an unknown role":              {`{"model":"m","messages":[{"role":"model","content":"x"}]}`, "Invalid value: 'model'"},
		"no content":                   {`{"model":"m","messages":[{"role":"user"}]}`, "expected a string, got null"},
		"an empty list as content":     {`{"model":"m","messages":[{"role":"user","content":[]}]}`, "empty array"},
		"parts without type":           {`{"model":"m","messages":[{"role":"user","content":[{}]}]}`, "type"},
		"a number as content":          {`{"model":"m","messages":[{"role":"user","content":1}]}`, "expected one of a string"},
		"an image of a system":         {`{"model":"m","messages":[{"role":"system","content":[` + image(pngURL) + `]}]}`, "only allowed for messages with role 'user'"},
		"an image of a tool":           {`{"model":"m","messages":[` + asks + `,{"role":"tool","tool_call_id":"a","content":[` + image(pngURL) + `]},{"role":"tool","tool_call_id":"b","content":"B"}]}`, "role 'tool' contains an image URL"},
		"an image without address":     {`{"model":"m","messages":[{"role":"user","content":[` + image("") + `]}]}`, "Missing required parameter"},
		"an image that is a string":    {`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":"` + pngURL + `"}]}]}`, "expected an object"},
		"an image at no address":       {`{"model":"m","messages":[{"role":"user","content":[` + image("chart.png") + `]}]}`, "Expected a valid URL"},
		"an image that is no data URL": {`{"model":"m","messages":[{"role":"user","content":[` + image("data:image/png,abc") + `]}]}`, "Expected a base64-encoded data URL"},
		"an image in broken base64":    {`{"model":"m","messages":[{"role":"user","content":[` + image(pngURL+"?") + `]}]}`, "Invalid base64 image_url"},
		"an empty image":               {`{"model":"m","messages":[{"role":"user","content":[` + image("data:image/png;base64,") + `]}]}`, "Invalid base64 image_url"},
		"a file without a name":        {file(`"file_data":"data:application/pdf;base64,JVBERi0xLjc="`), "content[0].file.filename'"},
		"a file that is no data URL":   {file(`"filename":"a.pdf","file_data":"JVBERi0xLjc="`), "Expected a base64-encoded data URL with an application/pdf"},
		"a text as a file":             {file(`"filename":"a.txt","file_data":"data:text/plain;base64,aGk="`), "unsupported MIME type 'text/plain'"},
		"what is no PDF":               {file(`"filename":"a.pdf","file_data":"data:application/pdf;base64,aGk="`), "valid PDF"},
		"a picture of another kind":    {`{"model":"m","messages":[{"role":"user","content":[` + image("data:image/svg+xml;base64,PHN2Zy8+") + `]}]}`, "unsupported image"},
		"an image of another type":     {`{"model":"m","messages":[{"role":"user","content":[` + image(strings.Replace(pngURL, "png", "jpeg", 1)) + `]}]}`, "unsupported image"},
		"an unknown detail":            {`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + pngURL + `","detail":"all"}}]}]}`, "Invalid value: 'all'"},
		"an unknown part":              {`{"model":"m","messages":[{"role":"user","content":[{"type":"image","source":{}}]}]}`, "Invalid value: 'image'"},
		"a text part without a text":   {`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text"}]}]}`, "content[1].text"},
		"a text part that is a number": {`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":1}]}]}`, "expected a string"},
		"an assistant saying nothing":  {`{"model":"m","messages":[{"role":"assistant"}]}`, "expected a string, got null"},
		"an unanswered call":           {`{"model":"m","messages":[` + asks + `,{"role":"tool","tool_call_id":"a","content":"A"}]}`, "did not have response messages: b"},
		"an answer too late":           {`{"model":"m","messages":[` + asks + `,{"role":"tool","tool_call_id":"a","content":"A"},{"role":"user","content":"x"},{"role":"tool","tool_call_id":"b","content":"B"}]}`, "did not have response messages: b"},
		"an answer without a call":     {`{"model":"m","messages":[{"role":"tool","tool_call_id":"a","content":"A"}]}`, "must be a response to a preceeding message"},
		"an answer to another call":    {`{"model":"m","messages":[` + asks + `,{"role":"tool","tool_call_id":"c","content":"A"}]}`, "must be a response to a preceeding message"},
		"no calls in tool_calls":       {`{"model":"m","messages":[{"role":"assistant","content":"x","tool_calls":[]}]}`, "empty array"},
		"equal IDs":                    {`{"model":"m","messages":[` + strings.Replace(asks, `"id":"b"`, `"id":"a"`, 1) + `]}`, "duplicate id"},
		"a bad function name":          {`{"model":"m","messages":[` + strings.Replace(asks, `"x"`, `"x.y"`, 1) + `]}`, "does not match pattern"},
		"no tools in tools":            {`{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[]}`, "1 to 128"},
		"a bad tool name":              {`{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a.b"}}]}`, "does not match pattern"},
		"a schema that is no object":   {`{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"string"}}}]}`, "schema must be a JSON Schema of 'type"},
		"stream options of no stream":  {`{"model":"m","messages":[{"role":"user","content":"x"}],"stream_options":{"include_usage":true}}`, "only allowed when 'stream' is enabled"},
		"unknown stream options":       {`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"usage":true}}`, "'stream_options'"},
		"a stream that is no bool":     {`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":"yes"}`, "Invalid type"},
		"an unknown format":            {`{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"xml"}}`, "Invalid value: 'xml'"},
		"a format without a name":      {`{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"schema":{}}}}`, "json_schema.name"},
		"a format without a schema":    {`{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"r"}}}`, "json_schema.schema"},
		"a schema without properties":  {`{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object"}}}]}`, "object schema missing properties"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer()
			defer s.Close()
			s.Always(llmtest.Say("ok"))
			status, body := post(t, s.URL(), tt.body)
			if status != http.StatusBadRequest || !strings.Contains(body, tt.want) || !strings.Contains(body, `"type":"invalid_request_error"`) {
				t.Errorf("%d %s", status, body)
			}
			if len(s.Refused()) != 1 {
				t.Errorf("refused %q", s.Refused())
			}
		})
	}
}

const pngURL = "data:image/png;base64,iVBORw0KGgo="

func image(url string) string { return `{"type":"image_url","image_url":{"url":"` + url + `"}}` }

func TestServerTakesParts(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	s.Always(llmtest.Say("ok"))
	for _, content := range []string{
		`{"type":"text","text":""}`, `{"type":"text","text":"look:"},` + image(pngURL), image("https://example.com/a.png"),
		`{"type":"image_url","image_url":{"url":"` + pngURL + `","detail":"low"}}`, `{"type":"input_audio","input_audio":{"data":"aGVsbG8=","format":"wav"}}`,
	} {
		if status, body := post(t, s.URL(), `{"model":"m","messages":[{"role":"user","content":[`+content+`]}]}`); status != 200 {
			t.Errorf("%s: %d %s", content, status, body)
		}
	}
}

func TestServerAnswers(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	fine := `{"model":"m","messages":[` + asks + `,{"role":"tool","tool_call_id":"b","content":"B"},{"role":"tool","tool_call_id":"a","content":"A"},{"role":"user","content":"x"}]}`
	s.Reply(llmtest.Say("one"))
	if status, body := post(t, s.URL(), fine); status != 200 || !strings.Contains(body, `"content":"one"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := post(t, s.URL(), fine); status != 400 || !strings.Contains(body, "no answer was scripted for request 2") {
		t.Errorf("%d %s", status, body)
	}
	s.RequireKey("secret")
	if status, body := post(t, s.URL(), fine); status != 401 || !strings.Contains(body, "invalid_api_key") {
		t.Errorf("%d %s", status, body)
	}
	if r := s.Requests(); len(r) != 3 || string(r[0].Body) != fine || r[0].Path != "/v1/chat/completions" || r[0].Method != "POST" {
		t.Errorf("requests %+v", r)
	}
	if len(s.Refused()) != 0 {
		t.Errorf("refused %q", s.Refused())
	}
}

func TestServerStreams(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	s.Reply(llmtest.CallTools("Hello there.", llmtest.ToolCall("a", "x", `{"n":1}`)))
	status, body := post(t, s.URL(), `{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true}}`)
	head := `{"id":"chatcmpl-llmtest","object":"chat.completion.chunk","created":1767225600,"model":"llmtest-1","service_tier":"default","system_fingerprint":null,`
	want := ""
	for _, delta := range []string{
		`{"role":"assistant","content":""}`, `{"content":"Hello th"}`, `{"content":"ere."}`,
		`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":""}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\":1}"}}]}`,
	} {
		want += "data: " + head + `"choices":[{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n"
	}
	want += "data: " + head + `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}],"usage":null}` + "\n\n" +
		"data: " + head + `"choices":[],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":3}}}` + "\n\n" +
		"data: [DONE]\n\n"
	if status != 200 || body != want {
		t.Errorf("%d\n%s\nwant\n%s", status, body, want)
	}
}

func TestClosingTheServerReleasesHangingAnswers(t *testing.T) {
	s := llmtest.NewServer()
	arrived := make(chan struct{})
	s.Reply(func(w http.ResponseWriter, r *http.Request) { close(arrived); llmtest.Hang()(w, r) })
	done := make(chan error)
	go func() {
		_, err := http.Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"x"}]}`))
		done <- err
	}()
	<-arrived
	s.Close()
	s.Close()
	<-done
}

func TestWhenHoldsAnAnswerBack(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	ready := make(chan struct{})
	s.Reply(llmtest.When(ready, llmtest.Say("now")))
	close(ready)
	if status, body := post(t, s.URL(), `{"model":"m","messages":[{"role":"user","content":"x"}]}`); status != 200 || !strings.Contains(body, "now") {
		t.Errorf("%d %s", status, body)
	}
}

func BenchmarkServerThroughTheRouter(b *testing.B) {
	s := llmtest.NewServer()
	defer s.Close()
	s.KeepRequests(false)
	s.Always(llmtest.Say("ok"))
	router := router.New(router.Options{BaseURL: s.URL()})
	request := llm.Request{Model: "ollama:x", Messages: []contract.Message{{Role: contract.RoleUser, Content: contract.Inline("hi")}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := router.Generate(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
}
