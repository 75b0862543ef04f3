package llm_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/workflows/contract"
)

const canary = "sk-canary-6f1d0c9be2a74853"

// patience bounds every call. A busy machine takes a minute for an answer of 50 MB.
const patience = 20 * time.Minute

// newServer starts a server and a router whose providers all live there.
func newServer(t *testing.T) (*llmtest.Server, *llm.Router) {
	t.Helper()
	s := llmtest.NewServer()
	t.Cleanup(s.Close)
	return s, llm.NewRouter(llm.Options{Getenv: keys, BaseURL: s.URL(), Timeout: patience})
}

func keys(name string) string {
	if strings.HasSuffix(name, "_API_KEY") {
		return canary
	}
	return ""
}

func conversation() []contract.Message {
	return []contract.Message{
		{Role: contract.RoleSystem, Content: contract.Inline("old prompt")},
		user("Add a=1 and tell me what is there."),
		say("r1", "I look and add."),
		call("r1", "call_8f2", "resources_list", `{"pattern":"^a"}`),
		call("r1", "call_8f3", "resources_add", `{"name":"a","value":1}`),
		notice(contract.RoleAssistant, "This action requires approval:"),
		decision(contract.Approved),
		result("r1", "call_8f3", "resources_add", `{"id":"17"}`),
		failed(result("r1", "call_8f2", "resources_list", "invalid pattern")),
		say("r2", "Added."),
		user("Remove it."),
		call("r3", "call_9a1", "resources.remove", `{"id":"17"}`),
		decision(contract.Rejected),
		user("Then leave it."),
	}
}

func offered() []contract.Tool {
	return []contract.Tool{
		tool("resources.remove", "Remove resources", `{
			"type":"object","properties":{"filter":{"type":"object","properties":{"id":{"type":"string","pattern":"^[0-9]+$"},
			"limit":{"type":"integer","maximum":9007199254740993}},"additionalProperties":false}},"required":["filter"],
			"$defs":{"x":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, true),
		tool("ping", "", ``, false),
	}
}

type golden struct {
	Method, Path string
	Headers      map[string]string
	Body         json.RawMessage
}

// The golden files hold what the providers' API references ask for. Rewrite
// them with UPDATE_GOLDEN=1, and read the difference.
func TestRequestsOnTheWire(t *testing.T) {
	for _, model := range []string{
		"anthropic:claude-sonnet-4-5", "openai:gpt-4o", "mistral:mistral-large-latest",
		"ollama:llama3.2:3b", "openrouter:meta-llama/llama-3.3-70b-instruct",
	} {
		provider, _, _ := strings.Cut(model, ":")
		t.Run(provider, func(t *testing.T) {
			s, router := newServer(t)
			s.Reply(llmtest.Say("ok"))
			_, err := router.Generate(t.Context(), llm.Request{
				Model: model, System: "You keep resources.", Messages: conversation(), Tools: offered(),
			})
			if err != nil {
				t.Fatal(err)
			}
			compareGolden(t, filepath.Join("testdata", "requests", provider+".json"), s.Requests()[0])
		})
	}
}

func TestALimitOfTheReplyOnTheWire(t *testing.T) {
	for model, field := range map[string]string{
		"openai:gpt-5":                 "max_completion_tokens",
		"mistral:mistral-large-latest": "max_tokens", "ollama:llama3.2:3b": "max_tokens", "openrouter:openai/gpt-5": "max_tokens",
	} {
		s, router := newServer(t)
		s.Always(llmtest.Say("ok"))
		for _, limit := range []int{99, 0} {
			if _, err := router.Generate(t.Context(), llm.Request{Model: model, Messages: conversation(), MaxTokens: limit}); err != nil {
				t.Fatal(err)
			}
		}
		requests := s.Requests()
		if body := string(requests[0].Body); strings.Count(body, "max_") != 1 || !strings.Contains(body, `"`+field+`":99`) {
			t.Errorf("%s: %s", model, body)
		}
		if body := string(requests[1].Body); strings.Contains(body, "max_") {
			t.Errorf("%s without a limit: %s", model, body)
		}
	}
}

func compareGolden(t *testing.T, file string, r llmtest.Request) {
	t.Helper()
	g := golden{Method: r.Method, Path: r.Path, Headers: map[string]string{}, Body: r.Body}
	for _, name := range []string{"Authorization", "X-Api-Key", "Anthropic-Version", "Content-Type", "HTTP-Referer", "X-Title", "User-Agent", "OpenAI-Organization"} {
		if v := r.Header.Get(name); v != "" {
			g.Headers[name] = strings.ReplaceAll(v, canary, "KEY")
		}
	}
	raw, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}

func TestAmbientOpenAIVariablesReachNobody(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_API_KEY": canary, "OPENAI_ORG_ID": canary, "OPENAI_PROJECT_ID": canary, "OPENAI_CUSTOM_HEADERS": "X-Leak: " + canary,
	} {
		t.Setenv(name, value)
	}
	s, _ := newServer(t)
	s.Reply(llmtest.Say("ok"))
	router := llm.NewRouter(llm.Options{Getenv: func(name string) string { return map[string]string{"OLLAMA_BASE_URL": s.URL()}[name] }})
	if _, err := router.Generate(t.Context(), llm.Request{Model: "ollama-llama3", Messages: []contract.Message{user("hi")}}); err != nil {
		t.Fatal(err)
	}
	for name, values := range s.Requests()[0].Header {
		if strings.Contains(strings.Join(values, " "), canary) {
			t.Errorf("header %s carries the key to another provider", name)
		}
	}
}

func TestReplies(t *testing.T) {
	raw := func(message, finish string) llmtest.Answer {
		return llmtest.JSON(200, `{"id":"c","object":"chat.completion","created":1,"model":"m-1","choices":[{"index":0,"message":`+
			message+`,"finish_reason":`+finish+`}]}`)
	}
	used := contract.Usage{InputTokens: 19, OutputTokens: 10, CachedTokens: 3}
	for name, tt := range map[string]struct {
		answer llmtest.Answer
		want   llm.Reply
	}{
		"text": {llmtest.Say("hello"), llm.Reply{Text: "hello", Model: "llmtest-1", Usage: used, Finish: "stop"}},
		"parallel calls beside a text": {
			llmtest.CallTools("I look.", llmtest.ToolCall("a", "resources_remove", `{"x":1}`), llmtest.ToolCall("b", "ping", ``)),
			llm.Reply{Text: "I look.", Model: "llmtest-1", Usage: used, Finish: "tool_calls", Calls: []llm.Call{
				llmtest.ToolCall("a", "resources.remove", `{"x":1}`), llmtest.ToolCall("b", "ping", `{}`),
			}},
		},
		"a tool that is not on offer": {
			llmtest.CallTools("", llmtest.ToolCall("a", "nope", `null`)),
			llm.Reply{Model: "llmtest-1", Usage: used, Finish: "tool_calls", Calls: []llm.Call{llmtest.ToolCall("a", "nope", `{}`)}},
		},
		"broken arguments": {
			llmtest.CallTools("", llmtest.ToolCall("a", "ping", `{"x":`), llmtest.ToolCall("b", "ping", `[1]`)),
			llm.Reply{Model: "llmtest-1", Usage: used, Finish: "tool_calls", Calls: []llm.Call{
				{ID: "a", Name: "ping", Arguments: json.RawMessage(`{}`), Problem: "The arguments are not valid JSON."},
				{ID: "b", Name: "ping", Arguments: json.RawMessage(`{}`), Problem: "The arguments are JSON, but not a JSON object."},
			}},
		},
		"arguments cut off": {
			raw(`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"ping","arguments":"{\"x\": \"lo"}}]}`, `"length"`),
			llm.Reply{Model: "m-1", Finish: "length", Calls: []llm.Call{
				{ID: "a", Name: "ping", Arguments: json.RawMessage(`{}`), Problem: "The arguments were cut off at the model's length limit."},
			}},
		},
		"arguments as an object, no type, finish stop": {
			raw(`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"ping","arguments":{"x": 1}}}]}`, `"stop"`),
			llm.Reply{Model: "m-1", Finish: "tool_calls", Calls: []llm.Call{llmtest.ToolCall("a", "ping", `{"x": 1}`)}},
		},
		"content in parts": {
			raw(`{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"yes"}]}`, `"stop"`),
			llm.Reply{Text: "yes", Model: "m-1", Finish: "stop"},
		},
		"a refusal":         {llmtest.Refuse("I cannot."), llm.Reply{Text: "I cannot.", Model: "llmtest-1", Usage: used, Finish: "refusal"}},
		"a content filter":  {llmtest.Finish("", "content_filter"), llm.Reply{Text: "The provider withheld the model's reply (content filter).", Model: "llmtest-1", Usage: used, Finish: "refusal"}},
		"a length stop":     {llmtest.Finish("half", "length"), llm.Reply{Text: "half", Model: "llmtest-1", Usage: used, Finish: "length"}},
		"an unknown finish": {llmtest.Finish("hm", "tired"), llm.Reply{Text: "hm", Model: "llmtest-1", Usage: used, Finish: "tired"}},
		"no finish":         {raw(`{"role":"assistant","content":"x"}`, `null`), llm.Reply{Text: "x", Model: "m-1", Finish: "stop"}},
		"five megabytes":    {llmtest.Huge(5 << 20), llm.Reply{Text: strings.Repeat("x", 5<<20), Model: "llmtest-1", Usage: used, Finish: "stop"}},
		"in small pieces": {
			llmtest.Slowly(7, `{"choices":[{"message":{"role":"assistant","content":"slow"},"finish_reason":"stop"}]}`),
			llm.Reply{Text: "slow", Model: "gpt-4o", Finish: "stop"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := newServer(t)
			s.Reply(tt.answer)
			got, err := router.Generate(t.Context(), llm.Request{Model: "openai-gpt-4o", Messages: []contract.Message{user("hi")}, Tools: offered()})
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Usage.Calls = 1
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reply differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCallsWithEqualOrNoIDsGetTheirOwn(t *testing.T) {
	s, router := newServer(t)
	s.Reply(llmtest.CallTools("", llmtest.ToolCall("a", "x", `{}`), llmtest.ToolCall("a", "x", `{}`), llmtest.ToolCall("", "x", `{}`)))
	r, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{user("hi")}})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, c := range r.Calls {
		ids[c.ID] = true
	}
	if len(ids) != 3 || ids[""] || !ids["a"] {
		t.Errorf("IDs %v", ids)
	}
}

func TestToolNamesThatCollideOnTheWireStayApart(t *testing.T) {
	s, router := newServer(t)
	s.Reply(llmtest.CallTools("", llmtest.ToolCall("a", "a_b", `{}`), llmtest.ToolCall("b", "a_b_2", `{}`)))
	tools := []contract.Tool{tool("a.b", "", ``, false), tool("a/b", "", ``, false), tool(strings.Repeat("ö", 80), "", ``, false)}
	r, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{user("hi")}, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	if r.Calls[0].Name != "a.b" || r.Calls[1].Name != "a/b" {
		t.Errorf("names %q and %q", r.Calls[0].Name, r.Calls[1].Name)
	}
}
