package anthropic_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

const claude = "anthropic:claude-sonnet-4-5"

// claudeStream returns an answer with these events; their type is in their data.
func claudeStream(events ...string) llmtest.Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, data := range events {
			var event struct{ Type string }
			_ = json.Unmarshal([]byte(data), &event) // garbage has none
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event.Type, data)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

const (
	began   = `{"type":"message_start","message":{"type":"message","role":"assistant","model":"m-1","content":[],"usage":{"input_tokens":5,"output_tokens":1}}}`
	stopped = `{"type":"message_stop"}`
)

func starts(index int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block)
}

func blockPiece(index int, delta string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, delta)
}

func ends(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":` + reason + `,"stop_sequence":null},"usage":{"output_tokens":7}}`
}

// textStream returns a whole stream with a text and a stop reason.
func textStream(text, reason string) llmtest.Answer {
	return claudeStream(began, starts(0, `{"type":"text","text":""}`), blockPiece(0, `{"type":"text_delta","text":"`+text+`"}`), ends(reason), stopped)
}

// askClaude returns the reply and the request, which must be valid.
func askClaude(t *testing.T, answer llmtest.Answer, r llm.Request) (llm.Reply, llmtest.Request) {
	t.Helper()
	s, router := sample.NewServer(t)
	s.Reply(answer)
	if r.Model == "" {
		r.Model = claude
	}
	reply, err := router.Generate(t.Context(), r)
	if err != nil {
		t.Fatal(err, s.Refused())
	}
	return reply, s.Requests()[0]
}

func TestRepliesOfClaude(t *testing.T) {
	used := contract.Usage{InputTokens: 19, OutputTokens: 10, CachedTokens: 3}
	few := contract.Usage{InputTokens: 5, OutputTokens: 7}
	whole := func(content, reason string) llmtest.Answer {
		return llmtest.JSON(200, `{"type":"message","role":"assistant","model":"m-1","content":`+content+`,"stop_reason":`+reason+`,
			"usage":{"input_tokens":5,"output_tokens":7}}`)
	}
	for name, tt := range map[string]struct {
		answer llmtest.Answer
		want   llm.Reply
	}{
		"text": {llmtest.Say("hello, wörld, and all"), llm.Reply{Text: "hello, wörld, and all", Model: "llmtest-1", Usage: used, Finish: "stop"}},
		"parallel calls beside a text": {
			llmtest.CallTools("I look.", llmtest.ToolCall("a", "resources_remove", `{"x":1}`), llmtest.ToolCall("b", "ping", ``)),
			llm.Reply{Text: "I look.", Model: "llmtest-1", Usage: used, Finish: "tool_calls", Calls: []llm.Call{
				llmtest.ToolCall("a", "resources.remove", `{"x":1}`), llmtest.ToolCall("b", "ping", `{}`),
			}},
		},
		"broken arguments": {
			llmtest.CallTools("", llmtest.ToolCall("a", "ping", `{"x":`), llmtest.ToolCall("b", "ping", `[1]`)),
			llm.Reply{Model: "llmtest-1", Usage: used, Finish: "tool_calls", Calls: []llm.Call{
				{ID: "a", Name: "ping", Arguments: json.RawMessage(`{}`), Problem: "The arguments are not valid JSON."},
				{ID: "b", Name: "ping", Arguments: json.RawMessage(`{}`), Problem: "The arguments are JSON, but not a JSON object."},
			}},
		},
		"arguments cut off": {
			claudeStream(began, starts(0, `{"type":"tool_use","id":"a","name":"ping","input":{}}`), blockPiece(0, `{"type":"input_json_delta","partial_json":"{\"x"}`), ends(`"max_tokens"`), stopped),
			llm.Reply{Model: "m-1", Usage: few, Finish: "length", Calls: []llm.Call{
				{ID: "a", Name: "ping", Arguments: json.RawMessage(`{}`), Problem: "The arguments were cut off at the model's length limit."},
			}},
		},
		"arguments at the beginning of their block": {
			claudeStream(began, starts(0, `{"type":"tool_use","id":"a","name":"ping","input":{"x":1}}`), ends(`"tool_use"`), stopped),
			llm.Reply{Model: "m-1", Usage: few, Finish: "tool_calls", Calls: []llm.Call{llmtest.ToolCall("a", "ping", `{"x":1}`)}},
		},
		"blocks at the same time": {
			claudeStream(began, starts(0, `{"type":"text","text":"a"}`), starts(1, `{"type":"tool_use","id":"a","name":"ping","input":{}}`), blockPiece(0, `{"type":"text_delta","text":"b"}`),
				blockPiece(1, `{"type":"input_json_delta","partial_json":"{\"x\""}`), blockPiece(0, `{"type":"text_delta","text":"c"}`), blockPiece(1, `{"type":"input_json_delta","partial_json":":1}"}`), ends(`"tool_use"`), stopped),
			llm.Reply{Text: "abc", Model: "m-1", Usage: few, Finish: "tool_calls", Calls: []llm.Call{llmtest.ToolCall("a", "ping", `{"x":1}`)}},
		},
		"events and blocks that nobody knows": {
			claudeStream(began, `{"type":"weather","sky":"blue"}`, starts(0, `{"type":"poem","text":"roses"}`), blockPiece(0, `{"type":"text_delta","text":"red"}`), blockPiece(0, `{"type":"verse_delta","verse":"x"}`),
				`{"type":"content_block_stop","index":0}`, `{"type":"ping"}`, starts(1, `{"type":"text","text":""}`), blockPiece(1, `{"type":"text_delta","text":"yes"}`), `{"type":"content_block_stop","index":1}`, ends(`"end_turn"`), stopped),
			llm.Reply{Text: "yes", Model: "m-1", Usage: few, Finish: "stop"},
		},
		"counts in both places": {
			claudeStream(`{"type":"message_start","message":{"model":"m-1","usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":300,"output_tokens":1}}}`,
				starts(0, `{"type":"text","text":"x"}`), `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":6,"cache_read_input_tokens":300,"output_tokens":40}}`, stopped),
			llm.Reply{Text: "x", Model: "m-1", Usage: contract.Usage{InputTokens: 326, CachedTokens: 300, OutputTokens: 40}, Finish: "stop"},
		},
		"a whole message":          {whole(`[{"type":"text","text":"x"},{"type":"poem"},{"type":"tool_use","id":"a","name":"ping","input":{"x":1}}]`, `"tool_use"`), llm.Reply{Text: "x", Model: "m-1", Usage: few, Finish: "tool_calls", Calls: []llm.Call{llmtest.ToolCall("a", "ping", `{"x":1}`)}}},
		"a refusal":                {llmtest.Refuse("I cannot."), llm.Reply{Text: "I cannot.", Model: "llmtest-1", Usage: used, Finish: "refusal"}},
		"a refusal midway":         {textStream("First", `"refusal","stop_details":{"type":"refusal","category":"bio","explanation":"No more."}`), llm.Reply{Text: "First\n\nNo more.", Model: "m-1", Usage: few, Finish: "refusal"}},
		"a refusal without a word": {whole(`[{"type":"tool_use","id":"a","name":"ping","input":{}}]`, `"refusal"`), llm.Reply{Text: "The provider withheld the model's reply (content filter).", Model: "m-1", Usage: few, Finish: "refusal"}},
		"a length stop":            {llmtest.Finish("half", "length"), llm.Reply{Text: "half", Model: "llmtest-1", Usage: used, Finish: "length"}},
		"a full context window":    {textStream("half", `"model_context_window_exceeded"`), llm.Reply{Text: "half", Model: "m-1", Usage: few, Finish: "length"}},
		"a pause":                  {textStream("half", `"pause_turn"`), llm.Reply{Text: "half", Model: "m-1", Usage: few, Finish: "length"}},
		"a stop sequence":          {textStream("half", `"stop_sequence"`), llm.Reply{Text: "half", Model: "m-1", Usage: few, Finish: "stop"}},
		"an unknown finish":        {textStream("hm", `"tired"`), llm.Reply{Text: "hm", Model: "m-1", Usage: few, Finish: "tired"}},
		"no finish":                {textStream("x", `null`), llm.Reply{Text: "x", Model: "m-1", Usage: few, Finish: "stop"}},
		"five megabytes":           {llmtest.Huge(5 << 20), llm.Reply{Text: strings.Repeat("x", 5<<20), Model: "llmtest-1", Usage: used, Finish: "stop"}},
		"events without a name": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, ": hello\n\ndata:\n\n")
				for _, data := range []string{began, starts(0, `{"type":"text","text":"x"}`), ends(`"end_turn"`), stopped} {
					_, _ = io.WriteString(w, "data: "+data+"\n\n")
				}
			},
			llm.Reply{Text: "x", Model: "m-1", Usage: few, Finish: "stop"},
		},
		"no more after the end": {
			func(w http.ResponseWriter, r *http.Request) {
				textStream("x", `"end_turn"`)(w, r)
				llmtest.Hang()(w, r)
			},
			llm.Reply{Text: "x", Model: "m-1", Usage: few, Finish: "stop"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := askClaude(t, tt.answer, llm.Request{Messages: []contract.Message{sample.User("hi")}, Tools: sample.Offer()})
			tt.want.Usage.Calls = 1
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reply differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeltasOfClaude(t *testing.T) {
	var got []llm.Delta
	answer := claudeStream(began, starts(0, `{"type":"thinking","thinking":"","signature":""}`), blockPiece(0, `{"type":"thinking_delta","thinking":"Hm."}`), blockPiece(0, `{"type":"signature_delta","signature":"c2ln"}`),
		starts(1, `{"type":"text","text":""}`), `{"type":"ping"}`, blockPiece(1, `{"type":"text_delta","text":"I "}`), blockPiece(1, `{"type":"text_delta","text":"look."}`),
		starts(2, `{"type":"tool_use","id":"a","name":"resources_remove","input":{}}`), blockPiece(2, `{"type":"input_json_delta","partial_json":""}`), blockPiece(2, `{"type":"input_json_delta","partial_json":"{\"x\":"}`), blockPiece(2, `{"type":"input_json_delta","partial_json":"1}"}`),
		starts(3, `{"type":"tool_use","id":"b","name":"ping","input":{}}`), ends(`"tool_use"`), stopped)
	askClaude(t, answer, llm.Request{Messages: []contract.Message{sample.User("hi")}, Tools: sample.Offer(), Deltas: func(d llm.Delta) { got = append(got, d) }})
	want := []llm.Delta{
		{Kind: llm.DeltaReasoning, Text: "Hm."}, {Kind: llm.DeltaText, Text: "I "}, {Kind: llm.DeltaText, Text: "look."},
		{Kind: llm.DeltaCall, ID: "a", Name: "resources.remove"}, {Kind: llm.DeltaArguments, Text: `{"x":`}, {Kind: llm.DeltaArguments, Text: `1}`},
		{Kind: llm.DeltaCall, Call: 1, ID: "b", Name: "ping"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deltas differ (-want +got):\n%s", diff)
	}
}

func TestFailuresOfClaude(t *testing.T) {
	begun := []string{began, starts(0, `{"type":"text","text":""}`), blockPiece(0, `{"type":"text_delta","text":"half"}`)}
	midway := func(kind, message string) llmtest.Answer {
		return claudeStream(append(slices.Clone(begun), `{"type":"error","error":{"type":"`+kind+`","message":"`+message+`"},"request_id":"req_1"}`)...)
	}
	for name, tt := range map[string]struct {
		answer llmtest.Answer
		kind   contract.Kind
		want   string
		after  time.Duration
	}{
		"400":                {llmtest.Fail(400, "max_tokens: Field required"), contract.KindModelRequest, "anthropic API error (400): max_tokens: Field required", 0},
		"401":                {llmtest.Fail(401, "invalid x-api-key"), contract.KindModelAuth, "anthropic API error (401): invalid x-api-key (check ANTHROPIC_API_KEY)", 0},
		"403":                {llmtest.Fail(403, "no"), contract.KindModelAuth, "anthropic API error (403): no (check ANTHROPIC_API_KEY)", 0},
		"404":                {llmtest.Fail(404, "model: x"), contract.KindModelRequest, "anthropic API error (404): model: x (model claude-sonnet-4-5)", 0},
		"413":                {llmtest.Fail(413, "Request exceeds the maximum size"), contract.KindModelContext, "anthropic API error (413): Request exceeds the maximum size", 0},
		"429":                {llmtest.After("7", llmtest.Fail(429, "slow down")), contract.KindModelRateLimited, "anthropic API error (429): slow down", 7 * time.Second},
		"500":                {llmtest.Fail(500, "Internal server error"), contract.KindModelUnavailable, "anthropic API error (500): Internal server error", 0},
		"529":                {llmtest.Fail(529, "Overloaded"), contract.KindModelUnavailable, "anthropic API error (529): Overloaded", 0},
		"too long":           {llmtest.Fail(400, "prompt is too long: 210000 tokens > 200000 maximum"), contract.KindModelContext, "anthropic API error (400): prompt is too long: 210000 tokens > 200000 maximum", 0},
		"too long with more": {llmtest.Fail(400, "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000"), contract.KindModelContext, "anthropic API error (400): input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000", 0},
		"no money":           {llmtest.Fail(400, "Your credit balance is too low to access the Anthropic API."), contract.KindModelAuth, "anthropic API error (400): Your credit balance is too low to access the Anthropic API. (check ANTHROPIC_API_KEY)", 0},
		"overloaded midway":  {midway("overloaded_error", "Overloaded"), contract.KindModelUnavailable, "anthropic API error (529): Overloaded", 0},
		"limited midway":     {midway("rate_limit_error", "slow down"), contract.KindModelRateLimited, "anthropic API error (429): slow down", 0},
		"too long midway":    {midway("invalid_request_error", "prompt is too long: 2 tokens > 1 maximum"), contract.KindModelContext, "anthropic API error (400): prompt is too long: 2 tokens > 1 maximum", 0},
		"an error midway":    {midway("new_error", "Oops"), contract.KindModelUnavailable, "anthropic API error (500): Oops", 0},
		"an error in no JSON": {func(w http.ResponseWriter, r *http.Request) {
			claudeStream(begun...)(w, r)
			_, _ = io.WriteString(w, "event: error\ndata: <html>\n\n")
		}, contract.KindModelUnavailable, "anthropic API error (500): Internal Server Error", 0},
		"an error instead":  {llmtest.JSON(200, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), contract.KindModelUnavailable, "anthropic API error (529): Overloaded", 0},
		"the end too early": {claudeStream(begun...), contract.KindModelUnavailable, "anthropic broke off its answer", 0},
		"no end":            {llmtest.EndAfter(4, "hello, world"), contract.KindModelUnavailable, "anthropic broke off its answer", 0},
		"nothing at all":    {claudeStream(), contract.KindModelUnavailable, "anthropic broke off its answer", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := sample.NewServer(t)
			s.Reply(tt.answer)
			e := sample.Failure(t, router, claude)
			if e.Kind != tt.kind || e.RetryAfter != tt.after || e.Message != tt.want {
				t.Errorf("error = %s, %s, after %s\nwant    %s, %s, after %s", e.Kind, e.Message, e.RetryAfter, tt.kind, tt.want, tt.after)
			}
			if s.Served() != 1 {
				t.Errorf("%d requests; retries are not ours", s.Served())
			}
		})
	}
}

func TestAnswersOfClaudeThatMakeNoSense(t *testing.T) {
	for name, answer := range map[string]llmtest.Answer{
		"garbage":                  llmtest.Garbage(),
		"another API's answer":     llmtest.EmptyChoices(),
		"an empty object":          llmtest.JSON(200, `{}`),
		"null":                     llmtest.JSON(200, `null`),
		"nothing":                  llmtest.JSON(200, ``),
		"no content":               llmtest.JSON(200, `{"type":"message","content":[],"stop_reason":"end_turn"}`),
		"a stream without content": claudeStream(began, ends(`"end_turn"`), stopped),
		"thoughts up to the limit": claudeStream(began, starts(0, `{"type":"thinking","thinking":"Hm"}`), ends(`"max_tokens"`), stopped),
		"a garbage frame":          claudeStream(began, `{]<html>`),
		"a piece of no block":      claudeStream(began, blockPiece(3, `{"type":"text_delta","text":"x"}`), stopped),
		"a beginning of no block":  claudeStream(began, `{"type":"content_block_start","index":0}`, stopped),
		"too large":                llmtest.Huge(17 << 20),
		"too large a whole":        llmtest.JSON(200, `{"content":[{"type":"text","text":"`+strings.Repeat("x", 17<<20)+`"}]}`),
		"blocks without end":       claudeStream(began, starts(0, `{"type":"redacted_thinking","data":"`+strings.Repeat("x", 9<<20)+`"}`), starts(1, `{"type":"poem","data":"`+strings.Repeat("x", 9<<20)+`"}`), stopped),
	} {
		t.Run(name, func(t *testing.T) {
			s, router := sample.NewServer(t)
			s.Reply(answer)
			if e := sample.Failure(t, router, claude); e.Kind != contract.KindModelGarbage {
				t.Errorf("error = %s, %s", e.Kind, e.Message)
			}
		})
	}
}

func TestBrokenStreamsOfClaude(t *testing.T) {
	for name, answer := range map[string]llmtest.Answer{"reset": llmtest.Reset(), "truncated": llmtest.Truncated(), "reset midway": llmtest.CutAfter(4, "hello, world")} {
		t.Run(name, func(t *testing.T) {
			s, router := sample.NewServer(t)
			s.Reply(answer)
			if e := sample.Failure(t, router, claude); e.Kind != contract.KindModelUnavailable {
				t.Errorf("error = %s, %s", e.Kind, e.Message)
			}
		})
	}
	s, _ := sample.NewServer(t)
	s.Reply(llmtest.HangAfter(4, "hello, world"))
	e := sample.Failure(t, router.New(router.Options{Getenv: sample.Keys, BaseURL: s.URL(), Timeout: 30 * time.Millisecond}), claude)
	if e.Kind != contract.KindModelUnavailable || e.Message != "anthropic did not answer within 30ms" {
		t.Errorf("error = %s, %s", e.Kind, e.Message)
	}
}

func TestKeysAreInNoErrorOfClaude(t *testing.T) {
	s, router := sample.NewServer(t)
	s.Reply(claudeStream(began, `{"type":"error","error":{"type":"api_error","message":"key `+sample.Canary+`"}}`),
		llmtest.Fail(401, "key "+sample.Canary), llmtest.JSON(200, `{"error":{"message":"`+sample.Canary+`"}}`), claudeStream(sample.Canary))
	for range 4 {
		sample.NoKey(t, sample.Failure(t, router, claude))
	}
}

// The SDK's own client would take all of these.
func TestAmbientAnthropicVariablesReachNobody(t *testing.T) {
	home := t.TempDir()
	profile := filepath.Join(home, "configs", "default.json")
	if err := os.MkdirAll(filepath.Dir(profile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(profile, []byte(`{"base_url":"http://127.0.0.1:1/`+sample.Canary+`","workspace_id":"`+sample.Canary+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": sample.Canary, "ANTHROPIC_AUTH_TOKEN": sample.Canary, "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/" + sample.Canary,
		"ANTHROPIC_CUSTOM_HEADERS": "X-Leak: " + sample.Canary, "ANTHROPIC_CONFIG_DIR": home, "ANTHROPIC_PROFILE": "default",
		"ANTHROPIC_FEDERATION_RULE_ID": sample.Canary, "ANTHROPIC_ORGANIZATION_ID": sample.Canary, "ANTHROPIC_IDENTITY_TOKEN": sample.Canary,
		"ANTHROPIC_WORKSPACE_ID": sample.Canary, "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
	} {
		t.Setenv(name, value)
	}
	s, _ := sample.NewServer(t)
	s.Reply(llmtest.Say("ok"))
	router := router.New(router.Options{BaseURL: s.URL(), Getenv: func(name string) string { return map[string]string{"ANTHROPIC_API_KEY": "own"}[name] }})
	if _, err := router.Generate(t.Context(), llm.Request{Model: claude, Messages: []contract.Message{sample.User("hi")}}); err != nil {
		t.Fatal(err)
	}
	r := s.Requests()[0]
	for name, values := range r.Header {
		if strings.Contains(strings.Join(values, " "), sample.Canary) || name == "Traceparent" || name == "Authorization" {
			t.Errorf("header %s: %q", name, values)
		}
	}
	if r.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != "own" {
		t.Errorf("%s with %q", r.Path, r.Header.Get("X-Api-Key"))
	}
}

func TestBaseURLsOfClaude(t *testing.T) {
	for suffix, path := range map[string]string{
		"": "/v1/messages", "/": "/v1/messages", "/v1": "/v1/messages", "/v1/": "/v1/messages", "/a%20b/v1//": "/a b/v1/messages", "/proxy": "/proxy/v1/messages", "/v1?x=1": "/v1/messages",
	} {
		s, _ := sample.NewServer(t)
		s.Reply(llmtest.Say("ok"))
		base := strings.TrimSuffix(s.URL(), "/v1") + suffix
		if _, err := router.New(router.Options{Getenv: sample.Keys, BaseURL: base}).Generate(t.Context(), llm.Request{Model: claude, Messages: []contract.Message{sample.User("hi")}}); err != nil {
			t.Errorf("%s: %v", base, err)
		}
		if got := s.Requests()[0].Path; got != path {
			t.Errorf("%s: %s, want %s", base, got, path)
		}
	}
}
