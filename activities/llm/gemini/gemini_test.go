package gemini_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

const flash = "google:gemini-2.5-flash"

// newGemini is sample.NewServer with an address without a version, like Google's own.
func newGemini(t *testing.T, models ...llm.Entry) (*llmtest.Server, *router.Router) {
	t.Helper()
	s, _ := sample.NewServer(t)
	return s, router.New(router.Options{Getenv: sample.Keys, BaseURL: strings.TrimSuffix(s.URL(), "/v1"), Models: models, Timeout: sample.Patience})
}

// askGemini makes a call that must succeed.
func askGemini(t *testing.T, m llm.Model, r llm.Request) llm.Reply {
	t.Helper()
	if r.Messages == nil {
		r.Messages = []contract.Message{sample.User("hi")}
	}
	reply, err := m.Generate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// lastRequest returns the body of the server's latest request.
func lastRequest(t *testing.T, s *llmtest.Server) string {
	t.Helper()
	if refused := s.Refused(); len(refused) > 0 {
		t.Errorf("refused %q", refused)
	}
	return string(s.Requests()[s.Served()-1].Body)
}

// The golden files follow ai.google.dev/api/generate-content.
func TestGeminiRequestsOnTheWire(t *testing.T) {
	half := 0.5
	images, media := sample.Illustrated()
	for name, r := range map[string]llm.Request{
		"google":        {Model: flash, System: "You keep resources.", Messages: sample.Conversation(), Tools: sample.Offer()},
		"google-images": {Model: flash, Messages: images, Media: media},
		"google-signed": {Model: "gemini-3-pro-preview", Messages: sample.Conversation()[:9], Tools: sample.Offer()},
		"google-schema": {Model: "shaped", Messages: []contract.Message{sample.Say("r0", "Welcome."), sample.User("go")}, MaxTokens: 99, Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := newGemini(t, llm.Entry{Name: "shaped", Provider: contract.ProviderGoogle, Model: "gemini-2.5-pro", Temperature: &half})
			s.Reply(llmtest.Say("ok"))
			askGemini(t, router, r)
			sample.CompareGolden(t, filepath.Join("testdata", "requests", name+".json"), s.Requests()[0])
		})
	}
}

func TestGeminiTakesNoSchemaBesideTools(t *testing.T) {
	s, router := newGemini(t)
	s.Reply(llmtest.Say("ok"))
	askGemini(t, router, llm.Request{Model: flash, Tools: sample.Offer(), Schema: json.RawMessage(`{"type":"object"}`)})
	if body := lastRequest(t, s); strings.Contains(body, "generationConfig") {
		t.Error(body)
	}
}

// requestRecorder is a transport that records URLs and keys and fails every request.
type requestRecorder struct{ urls, keys []string }

func (w *requestRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	w.urls, w.keys = append(w.urls, r.URL.String()), append(w.keys, r.Header.Get("X-Goog-Api-Key"))
	return http.DefaultTransport.RoundTrip(r)
}

func TestGeminiAddresses(t *testing.T) {
	const method = "gemini-2.5-flash:streamGenerateContent?alt=sse"
	for _, c := range []struct{ base, model, want string }{
		{"", "gemini-2.5-flash", "/v1beta/models/" + method},
		{"/", "gemini-2.5-flash", "/v1beta/models/" + method},
		{"/v1beta", "gemini-2.5-flash", "/v1beta/models/" + method},
		{"/v1beta/", "gemini-2.5-flash", "/v1beta/models/" + method},
		{"/v1", "gemini-2.5-flash", "/v1/models/" + method},
		{"/v1alpha/", "gemini-2.5-flash", "/v1alpha/models/" + method},
		{"/gate/way%2F1/", "gemini-2.5-flash", "/gate/way%2F1/v1beta/models/" + method},
		{"/v1/gateway", "gemini-2.5-flash", "/v1/gateway/v1beta/models/" + method},
		{"?team=a", "gemini-2.5-flash", "/v1beta/models/" + method + "&team=a"},
		{"", "models/gemini-2.5-flash", "/v1beta/models/" + method},
		{"", "tunedModels/mine", "/v1beta/tunedModels/mine:streamGenerateContent?alt=sse"},
		{"", "a?b#c", "/v1beta/models/a%3Fb%23c:streamGenerateContent?alt=sse"},
	} {
		s, _ := sample.NewServer(t)
		s.Reply(llmtest.Say("ok"))
		host := strings.TrimSuffix(s.URL(), "/v1")
		tap := &requestRecorder{}
		router := router.New(router.Options{Getenv: sample.Keys, BaseURL: host + c.base, HTTPClient: &http.Client{Transport: tap}})
		askGemini(t, router, llm.Request{Model: "google:" + c.model})
		if diff := cmp.Diff([]string{host + c.want}, tap.urls); diff != "" || tap.keys[0] != sample.Canary {
			t.Errorf("base %q, key %q (-want +got):\n%s", c.base, tap.keys[0], diff)
		}
	}
}

func TestTheAddressOfGooglesChatCompletionsIsExplained(t *testing.T) {
	for _, base := range []string{"https://generativelanguage.googleapis.com/v1beta/openai/", "http://127.0.0.1:1/openai"} {
		e := sample.Failure(t, router.New(router.Options{Getenv: sample.Keys, BaseURL: base}), flash)
		if e.Kind != contract.KindModelRequest || !strings.Contains(e.Message, "/openai speaks chat completions: leave it out") ||
			!strings.Contains(e.Message, "GEMINI_BASE_URL") {
			t.Errorf("error = %s, %s", e.Kind, e.Message)
		}
	}
}

func TestAmbientGoogleVariablesReachNobody(t *testing.T) {
	for _, name := range []string{
		"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
		"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "GEMINI_BASE_URL", "GOOGLE_APPLICATION_CREDENTIALS",
	} {
		t.Setenv(name, "ambient-"+sample.Canary)
	}
	s, router := newGemini(t)
	s.RequireKey(sample.Canary)
	s.Reply(llmtest.Say("ok"))
	askGemini(t, router, llm.Request{Model: flash})
	r := s.Requests()[0]
	for name, values := range r.Header {
		if strings.Contains(strings.Join(values, " "), "ambient") {
			t.Errorf("header %s is ambient", name)
		}
	}
	if r.Header.Get("Authorization") != "" || r.Header.Get("X-Goog-Api-Key") != sample.Canary || r.Path != "/v1beta/models/gemini-2.5-flash:streamGenerateContent" {
		t.Errorf("%s with %v", r.Path, r.Header)
	}
}

func TestHeadersOfAGeminiEntryWin(t *testing.T) {
	s, router := newGemini(t, llm.Entry{Name: "gate", Provider: contract.ProviderGoogle, Model: "m", Headers: map[string]string{"x-goog-api-key": "other", "X-Team": "a"}})
	s.Reply(llmtest.Say("ok"))
	askGemini(t, router, llm.Request{Model: "gate"})
	if h := s.Requests()[0].Header; h.Get("X-Goog-Api-Key") != "other" || h.Get("X-Team") != "a" {
		t.Errorf("%v", h)
	}
}

func TestGeminiToolNames(t *testing.T) {
	s, router := newGemini(t)
	s.Reply(llmtest.CallTools("", llmtest.ToolCall("", "_1st", `{}`), llmtest.ToolCall("", "__1st", `{}`), llmtest.ToolCall("", "_-x", `{}`)))
	tools := []contract.Tool{
		sample.Tool("_1st", "", ``, false), sample.Tool("1st", "", ``, false), sample.Tool("-x", "", ``, false), sample.Tool("a/b", "", ``, false),
		sample.Tool("a.b", "", ``, false), sample.Tool(strings.Repeat("7", 80), "", ``, false), sample.Tool(strings.Repeat("ü", 80), "", ``, false),
	}
	r := askGemini(t, router, llm.Request{Model: flash, Tools: tools, Messages: []contract.Message{
		sample.User("go"), sample.Call("r1", "a", "9 lives", `{}`), sample.Result("r1", "a", "9 lives", "gone"),
	}})
	lastRequest(t, s)
	if got := []string{r.Calls[0].Name, r.Calls[1].Name, r.Calls[2].Name}; !cmp.Equal(got, []string{"_1st", "1st", "-x"}) {
		t.Errorf("names %q", got)
	}
}

func TestGeminiResults(t *testing.T) {
	for text, want := range map[string]string{
		`plain`:                   `{"output":"plain"}`,
		``:                        `{"output":""}`,
		`{"id":"17","n":1.50}`:    `{"id":"17","n":1.50}`,
		` {"id":1} `:              `{"id":1}`,
		`{}`:                      `{"output":"{}"}`,
		`[1]`:                     `{"output":"[1]"}`,
		`null`:                    `{"output":"null"}`,
		`{"output":1}`:            `{"output":"{\"output\":1}"}`,
		`{"error":null,"a":1}`:    `{"output":"{\"error\":null,\"a\":1}"}`,
		`{"id":9007199254740993}`: `{"output":"{\"id\":9007199254740993}"}`,
	} {
		s, router := newGemini(t)
		s.Reply(llmtest.Say("ok"))
		askGemini(t, router, llm.Request{Model: flash, Messages: []contract.Message{sample.User("go"), sample.Call("r1", "a", "x", `{}`), sample.Result("r1", "a", "x", text)}})
		if body := lastRequest(t, s); !strings.Contains(body, `"response":`+want+`}`) {
			t.Errorf("%s: %s", text, body)
		}
	}
}

func TestGeminiSchemasAreOnesThatItTakes(t *testing.T) {
	s, model := newGemini(t)
	for name, schema := range map[string]string{
		"nothing":            ``,
		"no properties":      `{"type":"object","properties":{},"additionalProperties":false}`,
		"wrong types":        `{"properties":{"a":{"type":"string","properties":{"x":{}},"required":["x"]},"b":{"type":"array"},"c":{"items":{"type":"array"}}},"required":["a","z"]}`,
		"inner objects":      `{"type":"object","properties":{"a":{"required":["x"]},"b":{"properties":{"c":{}}}}}`,
		"several types":      `{"type":"object","properties":{"a":{"type":["object","array","null"],"properties":{"x":{"type":"string"}},"required":["x"],"items":{}}}}`,
		"a choice at top":    `{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{}}}]}`,
		"a choice beside":    `{"type":"object","properties":{"a":{"type":"integer","anyOf":[{"minimum":1},{"maximum":-1}]},"b":{"type":"object","properties":{"c":{}},"anyOf":[{"required":["c"]}]}}}`,
		"enums":              `{"type":"object","properties":{"a":{"enum":["",1,null]},"b":{"type":"string","enum":[""]},"c":{"type":"boolean","enum":[true]}}}`,
		"formats":            `{"type":"object","properties":{"a":{"type":"string","format":"uri"},"b":{"type":"string","format":"date-time"},"c":{"type":"integer","format":"int64"}}}`,
		"unknown type":       `{"type":"object","properties":{"a":{"type":"file"},"b":true,"c":{"description":"anything"},"d":{"type":"STRING"}}}`,
		"itself":             `{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`,
		"the schema of MCP":  `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"q":{"type":"string","minLength":1,"const":"x"}},"required":["q"]}`,
		"a choice of consts": `{"type":"object","properties":{"m":{"anyOf":[{"const":"a"},{"const":2},{"type":"null"}],"default":null,"description":"mode"}}}`,
	} {
		s.Reply(llmtest.Say("ok"))
		_, err := model.Generate(t.Context(), llm.Request{Model: flash, Messages: []contract.Message{sample.User("hi")}, Tools: []contract.Tool{sample.Tool("x", "", schema, false)}})
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, s.Requests()[s.Served()-1].Body)
		}
	}
	if e := sample.Failure(t, router.New(router.Options{Getenv: sample.Keys, BaseURL: s.URL()}), flash); !strings.Contains(e.Message, "no answer was scripted") {
		t.Errorf("error = %s", e.Message)
	}
	_, err := model.Generate(t.Context(), llm.Request{Model: flash, Messages: []contract.Message{sample.User("hi")}, Tools: []contract.Tool{sample.Tool("x", "", `[]`, false)}})
	if err == nil || err.Error() != "the schema of tool x is not a JSON object" {
		t.Errorf("error = %v", err)
	}
}
