package llmtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
)

// postGemini requests a stream. The key is in a header unless it is in the query.
func postGemini(t *testing.T, s *llmtest.Server, model, query, body string) (int, string) {
	t.Helper()
	url := strings.TrimSuffix(s.URL(), "/v1") + "/v1beta/models/" + model + ":streamGenerateContent?" + query
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if query != "" {
		req.Header.Set("X-Goog-Api-Key", "anything")
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
	hi     = `{"role":"user","parts":[{"text":"hi"}]}`
	asked  = hi + `,{"role":"model","parts":[{"functionCall":{"name":"x","args":{}}},{"functionCall":{"id":"b","name":"y"}}]}`
	given  = `{"functionResponse":{"name":"x","response":{"output":"A"}}}`
	given2 = `{"functionResponse":{"id":"b","name":"y","response":{}}}`
)

func function(fields string) string {
	return `{"contents":[` + hi + `],"tools":[{"functionDeclarations":[{"name":"x"` + fields + `}]}]}`
}

func TestServerRefusesWhatGeminiRefuses(t *testing.T) {
	contents := func(more string) string { return `{"contents":[` + more + `]}` }
	const turns = "function response parts is equal to the number of function call parts"
	for name, tt := range map[string]struct{ body, want string }{
		"no JSON":                   {`{`, "Invalid JSON payload received"},
		"no contents":               {`{}`, "contents is not specified"},
		"an unknown field":          {`{"contents":[` + hi + `],"messages":[]}`, `Unknown name \"messages\": Cannot find field.`},
		"an unknown field inside":   {contents(`{"role":"user","parts":[{"text":"a","image":1}]}`), `Unknown name \"image\" at 'contents[0].parts[0]'`},
		"an unknown keyword":        {function(`,"parameters":{"type":"object","properties":{"a":{"type":"string","const":1}}}`), `Unknown name \"const\" at 'tools[0].functionDeclarations[0].parameters.properties[a]'`},
		"a field of another type":   {`{"contents":{}}`, "Invalid value at 'contents'"},
		"a message that is none":    {`{"contents":[7]}`, "Invalid value at 'contents[0]'"},
		"an unknown role":           {contents(`{"role":"assistant","parts":[{"text":"a"}]}`), "Please use a valid role: user, model."},
		"a model first":             {contents(`{"role":"model","parts":[{"text":"a"}]}`), "first content"},
		"no parts":                  {contents(`{"role":"user","parts":[]}`), "parts must not be empty"},
		"an empty part":             {contents(`{"role":"user","parts":[{}]}`), "required oneof field 'data'"},
		"an empty text":             {contents(`{"role":"user","parts":[{"text":""}]}`), "required oneof field 'data'"},
		"two kinds of data":         {contents(`{"role":"user","parts":[{"text":"a","inlineData":{"mimeType":"image/png","data":"AAAA"}}]}`), "oneof"},
		"broken base64":             {contents(`{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"?"}}]}`), "Unable to process input image"},
		"what is no PDF":            {contents(`{"role":"user","parts":[{"inlineData":{"mimeType":"application/pdf","data":"aGk="}}]}`), "The document has no pages"},
		"a GIF":                     {contents(`{"role":"user","parts":[{"inlineData":{"mimeType":"image/gif","data":"AAAA"}}]}`), "Unsupported MIME type"},
		"a broken signature":        {contents(hi + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"?"}]}`), "Base64 decoding failed"},
		"no results":                {contents(asked), turns},
		"a result less":             {contents(asked + `,{"role":"user","parts":[` + given + `]}`), turns},
		"results too late":          {contents(asked + `,` + hi + `,{"role":"user","parts":[` + given + `,` + given2 + `]}`), turns},
		"results without calls":     {contents(`{"role":"user","parts":[` + given + `]}`), "immediately after a function call turn"},
		"results the wrong way":     {contents(asked + `,{"role":"user","parts":[` + given2 + `,` + given + `]}`), "is not that of function call"},
		"a result that is a text":   {contents(asked + `,{"role":"user","parts":[{"functionResponse":{"name":"x","response":"A"}},` + given2 + `]}`), "function_response.response"},
		"a call of a user":          {contents(`{"role":"user","parts":[{"functionCall":{"name":"x"}}]}`), "function_call"},
		"a call after a model":      {contents(hi + `,{"role":"model","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"x"}}]}`), "immediately after a user turn"},
		"arguments that are a text": {contents(hi + `,{"role":"model","parts":[{"functionCall":{"name":"x","args":"{}"}}]}`), "function_call"},
		"a bad name":                {strings.Replace(function(``), `"x"`, `"1x"`, 1), "Invalid function name"},
		"a name twice":              {strings.Replace(function(``), `{"name":"x"}`, `{"name":"x"},{"name":"x"}`, 1), "Duplicate function declaration found: x"},
		"a schema of no object":     {function(`,"parameters":{"type":"string"}`), "should be of type OBJECT"},
		"no properties":             {function(`,"parameters":{"type":"object"}`), "should be non-empty for OBJECT type"},
		"no type":                   {function(`,"parameters":{"type":"object","properties":{"a":{}}}`), "properties[a].type: must be specified"},
		"an unknown type":           {function(`,"parameters":{"type":"object","properties":{"a":{"type":"file"}}}`), "v1beta.Type"},
		"properties of a string":    {function(`,"parameters":{"type":"object","properties":{"a":{"type":"string","properties":{}}}}`), "only allowed for OBJECT type"},
		"no items":                  {function(`,"parameters":{"type":"object","properties":{"a":{"type":"array"}}}`), "items: missing field"},
		"an enum of an integer":     {function(`,"parameters":{"type":"object","properties":{"a":{"type":"integer","enum":["1"]}}}`), "enum: only allowed for STRING type"},
		"an empty enum":             {function(`,"parameters":{"type":"object","properties":{"a":{"type":"string","enum":[""]}}}`), "enum: cannot be empty"},
		"a format":                  {function(`,"parameters":{"type":"object","properties":{"a":{"anyOf":[{"type":"array","items":{"type":"string","format":"uri"}}]}}}`), "format: only 'enum'"},
		"required and not there":    {function(`,"parameters":{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`), "property is not defined"},
		"JSON beside tools":         {strings.Replace(function(``), `{"contents"`, `{"generationConfig":{"responseMimeType":"application/json"},"contents"`, 1), "Function calling with a response mime type"},
		"a schema and no JSON":      {`{"generationConfig":{"responseJsonSchema":{}},"contents":[` + hi + `]}`, "response_json_schema"},
		"an empty instruction":      {`{"systemInstruction":{"parts":[]},"contents":[` + hi + `]}`, "parts must not be empty"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer()
			defer s.Close()
			s.Always(llmtest.Say("ok"))
			status, body := postGemini(t, s, "gemini-2.5-flash", "alt=sse", tt.body)
			if status != http.StatusBadRequest || !strings.Contains(body, tt.want) || !strings.Contains(body, `"status":"INVALID_ARGUMENT"`) {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

func TestServerWantsGeminisKeyInAHeader(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	s.Always(llmtest.Say("ok"))
	fine := `{"contents":[` + hi + `]}`
	for query, want := range map[string]string{
		"": `"code":403,"message":"Method doesn't allow unregistered callers`, "key=k&alt=sse": "key in the URL", "alt=sse": "data: {",
	} {
		if _, body := postGemini(t, s, "gemini-2.5-flash", query, fine); !strings.Contains(body, want) {
			t.Errorf("%q: %s", query, body)
		}
	}
	if status, _ := postGemini(t, s, "a/b", "alt=sse", fine); status != 404 {
		t.Errorf("a path of nobody: %d", status)
	}
	s.RequireKey("secret")
	if status, body := postGemini(t, s, "gemini-2.5-flash", "alt=sse", fine); status != 401 || !strings.Contains(body, "UNAUTHENTICATED") {
		t.Errorf("%d %s", status, body)
	}
}

func TestServerWantsSignaturesOfTheCurrentTurn(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	s.Always(llmtest.Say("ok"))
	results := `,{"role":"user","parts":[` + given + `,` + given2 + `]}`
	signed := strings.Replace(asked, `"args":{}}}`, `"args":{}},"thoughtSignature":"skip_thought_signature_validator"}`, 1)
	for name, tt := range map[string]struct {
		model, contents string
		status          int
	}{
		"unsigned":              {"gemini-3-pro-preview", asked + results, 400},
		"signed":                {"gemini-3-pro-preview", signed + results, 200},
		"signed, then unsigned": {"gemini-3-pro-preview", signed + results + strings.TrimPrefix(asked, hi) + results, 400},
		"of an earlier turn":    {"gemini-3-pro-preview", asked + results + "," + hi, 200},
		"a model before":        {"gemini-2.5-pro", asked + results, 200},
	} {
		status, body := postGemini(t, s, tt.model, "alt=sse", `{"contents":[`+tt.contents+`]}`)
		if status != tt.status || (status == 400) != strings.Contains(body, "function call `default_api:x` , position ") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

func TestServerAnswersLikeGemini(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	fine := `{"contents":[` + hi + `]}`
	s.Reply(llmtest.CallTools("I look.", llmtest.ToolCall("a", "x", `{"n":1}`), llmtest.ToolCall("", "y", `{`)), llmtest.Think("hm", "yes"),
		llmtest.Refuse("no"), llmtest.Finish("half", llm.FinishLength), llmtest.Say("whole"))
	for i, want := range []string{
		`"parts":[{"functionCall":{"args":{"n":1},"id":"a","name":"x"}}],"role":"model"}`, `[{"text":"","thoughtSignature":"`,
		`"finishReason":"SAFETY"`, `"finishReason":"MAX_TOKENS"`,
	} {
		status, body := postGemini(t, s, "m", "alt=sse", fine)
		if status != 200 || !strings.Contains(body, want) || !strings.HasPrefix(body, `data: {"candidates":[`) || !strings.HasSuffix(body, "}\r\n\r\n") ||
			!strings.Contains(body, `"modelVersion":"llmtest-1","responseId":"llmtest"`) {
			t.Errorf("%d: %d %s", i, status, body)
		}
	}
	if _, body := postGemini(t, s, "m", "alt=json", fine); !strings.HasPrefix(body, `{"candidates":[{"content":{"parts":[{"text":"whole"}],"role":"model"},"finishReason":"STOP"`) {
		t.Errorf("whole: %s", body)
	}
}
