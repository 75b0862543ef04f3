package openai_test

import (
	"encoding/json"
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

// The golden files follow the providers' API references. Rewrite them with UPDATE_GOLDEN=1,
// and read the difference.
func TestRequestsOnTheWire(t *testing.T) {
	for _, model := range []string{
		"openai:gpt-4o", "mistral:mistral-large-latest",
		"ollama:llama3.2:3b", "openrouter:meta-llama/llama-3.3-70b-instruct",
	} {
		provider, _, _ := strings.Cut(model, ":")
		t.Run(provider, func(t *testing.T) {
			s, router := sample.NewServer(t)
			s.Reply(llmtest.Say("ok"))
			_, err := router.Generate(t.Context(), llm.Request{
				Model: model, System: "You keep resources.", Messages: sample.Conversation(), Tools: sample.Offer(),
			})
			if err != nil {
				t.Fatal(err)
			}
			sample.CompareGolden(t, filepath.Join("testdata", "requests", provider+".json"), s.Requests()[0])
		})
	}
}

func TestALimitOfTheReplyOnTheWire(t *testing.T) {
	for model, field := range map[string]string{
		"openai:gpt-5":                 "max_completion_tokens",
		"mistral:mistral-large-latest": "max_tokens", "ollama:llama3.2:3b": "max_tokens", "openrouter:openai/gpt-5": "max_tokens",
	} {
		s, router := sample.NewServer(t)
		s.Always(llmtest.Say("ok"))
		for _, limit := range []int{99, 0} {
			if _, err := router.Generate(t.Context(), llm.Request{Model: model, Messages: sample.Conversation(), MaxTokens: limit}); err != nil {
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

func TestAmbientOpenAIVariablesReachNobody(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_API_KEY": sample.Canary, "OPENAI_ORG_ID": sample.Canary, "OPENAI_PROJECT_ID": sample.Canary, "OPENAI_CUSTOM_HEADERS": "X-Leak: " + sample.Canary,
	} {
		t.Setenv(name, value)
	}
	s, _ := sample.NewServer(t)
	s.Reply(llmtest.Say("ok"))
	router := router.New(router.Options{Getenv: func(name string) string { return map[string]string{"OLLAMA_BASE_URL": s.URL()}[name] }})
	if _, err := router.Generate(t.Context(), llm.Request{Model: "ollama-llama3", Messages: []contract.Message{sample.User("hi")}}); err != nil {
		t.Fatal(err)
	}
	for name, values := range s.Requests()[0].Header {
		if strings.Contains(strings.Join(values, " "), sample.Canary) {
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
			s, router := sample.NewServer(t)
			s.Reply(tt.answer)
			got, err := router.Generate(t.Context(), llm.Request{Model: "openai-gpt-4o", Messages: []contract.Message{sample.User("hi")}, Tools: sample.Offer()})
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
	s, router := sample.NewServer(t)
	s.Reply(llmtest.CallTools("", llmtest.ToolCall("a", "x", `{}`), llmtest.ToolCall("a", "x", `{}`), llmtest.ToolCall("", "x", `{}`)))
	r, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{sample.User("hi")}})
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
	s, router := sample.NewServer(t)
	s.Reply(llmtest.CallTools("", llmtest.ToolCall("a", "a_b", `{}`), llmtest.ToolCall("b", "a_b_2", `{}`)))
	tools := []contract.Tool{sample.Tool("a.b", "", ``, false), sample.Tool("a/b", "", ``, false), sample.Tool(strings.Repeat("ö", 80), "", ``, false)}
	r, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{sample.User("hi")}, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	if r.Calls[0].Name != "a.b" || r.Calls[1].Name != "a/b" {
		t.Errorf("names %q and %q", r.Calls[0].Name, r.Calls[1].Name)
	}
}

func TestImagesOnTheWire(t *testing.T) {
	s, router := sample.NewServer(t)
	s.Reply(llmtest.Say("ok"))
	messages, media := sample.Illustrated()
	if _, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: messages, Media: media}); err != nil {
		t.Fatal(err)
	}
	sample.CompareGolden(t, filepath.Join("testdata", "requests", "openai-images.json"), s.Requests()[0])
}
