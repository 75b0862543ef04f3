package gemini_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

// geminiEvents returns an answer with a stream of events, given their data.
func geminiEvents(data ...string) llmtest.Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, d := range data {
			_, _ = io.WriteString(w, "data: "+d+"\r\n\r\n") // the client may have disconnected
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// geminiPiece returns a piece of an answer with parts and a finish reason, if there is one.
func geminiPiece(parts, finish string) string {
	if finish != "" {
		finish = `,"finishReason":"` + finish + `"`
	}
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + finish + `,"index":0}],"modelVersion":"m-1"}`
}

func TestGeminiReplies(t *testing.T) {
	used := contract.Usage{InputTokens: 19, OutputTokens: 10, CachedTokens: 3}
	for name, tt := range map[string]struct {
		answer llmtest.Answer
		want   llm.Reply
	}{
		"text":     {llmtest.Say("hello, " + strings.Repeat("ö", 99)), llm.Reply{Text: "hello, " + strings.Repeat("ö", 99), Model: "llmtest-1", Usage: used, Finish: "stop"}},
		"thoughts": {llmtest.Think("hm, hm, hm", "hello"), llm.Reply{Text: "hello", Model: "llmtest-1", Usage: used, Finish: "stop"}},
		"parallel calls beside a text": {
			llmtest.CallTools("I look.", llmtest.ToolCall("a", "resources_remove", `{"x":9007199254740993}`), llmtest.ToolCall("b", "ping", ``)),
			llm.Reply{Text: "I look.", Model: "llmtest-1", Usage: used, Finish: "tool_calls", Calls: []llm.Call{
				llmtest.ToolCall("a", "resources.remove", `{"x":9007199254740993}`), llmtest.ToolCall("b", "ping", `{}`),
			}},
		},
		"arguments that are no object": {
			llmtest.CallTools("", llmtest.ToolCall("a", "ping", `[1]`)),
			llm.Reply{Model: "llmtest-1", Usage: used, Finish: "tool_calls", Calls: []llm.Call{
				{ID: "a", Name: "ping", Arguments: json.RawMessage(`{}`), Problem: "The arguments are JSON, but not a JSON object."},
			}},
		},
		"a refusal":         {llmtest.Refuse("I cannot."), llm.Reply{Text: "I cannot.", Model: "llmtest-1", Usage: used, Finish: "refusal"}},
		"a silent refusal":  {geminiEvents(geminiPiece(``, "PROHIBITED_CONTENT")), llm.Reply{Text: "The provider withheld the model's reply (content filter).", Model: "m-1", Finish: "refusal"}},
		"a blocked prompt":  {geminiEvents(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":4}}`), llm.Reply{Text: "The provider did not let the model see the conversation (prohibited content).", Model: "gemini-2.5-flash", Usage: contract.Usage{InputTokens: 4}, Finish: "refusal"}},
		"a length stop":     {llmtest.Finish("half", "length"), llm.Reply{Text: "half", Model: "llmtest-1", Usage: used, Finish: "length"}},
		"an unknown finish": {llmtest.Finish("hm", "LANGUAGE"), llm.Reply{Text: "hm", Model: "llmtest-1", Usage: used, Finish: "LANGUAGE"}},
		"five megabytes":    {llmtest.Huge(5 << 20), llm.Reply{Text: strings.Repeat("x", 5<<20), Model: "llmtest-1", Usage: used, Finish: "stop"}},
		"five megabytes at once": {
			geminiEvents(geminiPiece(`{"text":"`+strings.Repeat("x", 5<<20)+`"}`, "STOP")), llm.Reply{Text: strings.Repeat("x", 5<<20), Model: "m-1", Finish: "stop"},
		},
		"thoughts are output": {
			geminiEvents(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2,"thoughtsTokenCount":5,"cachedContentTokenCount":6,"totalTokenCount":14}}`),
			llm.Reply{Text: "a", Model: "gemini-2.5-flash", Usage: contract.Usage{InputTokens: 7, OutputTokens: 7, CachedTokens: 6}, Finish: "stop"},
		},
		"parts of other kinds": {
			geminiEvents(geminiPiece(`{"executableCode":{"code":"1+1"}},{"text":"2"},{}`, "STOP")), llm.Reply{Text: "2", Model: "m-1", Finish: "stop"},
		},
		"comments, line feeds, data in lines and no blank line at the end": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
				fmt.Fprintf(w, "\n: hello\nevent: x\nid: 1\ndata:%s\n\ndata: %s\ndata: %s", geminiPiece(`{"text":"a"}`, ""), geminiPiece(`{"text":"b"}`, "STOP")[:1], geminiPiece(`{"text":"b"}`, "STOP")[1:])
			},
			llm.Reply{Text: "ab", Model: "m-1", Finish: "stop"},
		},
		"a stream of no type": {
			func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, "data: %s\n\n", geminiPiece(`{"text":"a"}`, "STOP"))
			},
			llm.Reply{Text: "a", Model: "m-1", Finish: "stop"},
		},
		"an object":            {llmtest.JSON(200, geminiPiece(`{"text":"whole"}`, "STOP")), llm.Reply{Text: "whole", Model: "m-1", Finish: "stop"}},
		"an object, no finish": {llmtest.JSON(200, geminiPiece(`{"text":"whole"}`, "")), llm.Reply{Text: "whole", Model: "m-1", Finish: "stop"}},
		"a list":               {llmtest.Slowly(7, "[\n"+geminiPiece(`{"text":"a"}`, "")+",\n"+geminiPiece(`{"text":"b"}`, "STOP")+"]\n"), llm.Reply{Text: "ab", Model: "m-1", Finish: "stop"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := newGemini(t)
			s.Reply(tt.answer)
			got := askGemini(t, router, llm.Request{Model: "gemini-2.5-flash", Tools: sample.Offer()})
			tt.want.Usage.Calls = 1
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(llm.Reply{}, "Native")); diff != "" {
				t.Errorf("reply differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGeminiRefusals(t *testing.T) {
	for _, reason := range []string{"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"} {
		s, router := newGemini(t)
		s.Reply(geminiEvents(geminiPiece(`{"text":"a","thoughtSignature":"AAAA"}`, reason)))
		if r := askGemini(t, router, llm.Request{Model: flash}); r.Finish != llm.FinishRefusal || r.Text != "a" || r.Native != nil {
			t.Errorf("%s: %+v", reason, r)
		}
	}
}

func TestGeminiAnswersThatMakeNoSense(t *testing.T) {
	for name, tt := range map[string]struct {
		answer llmtest.Answer
		want   string
	}{
		"garbage":               {llmtest.Garbage(), "API describes"},
		"a frame of garbage":    {geminiEvents(geminiPiece(`{"text":"a"}`, ""), `{]`), "API describes"},
		"a list as a frame":     {geminiEvents(`[]`), "API describes"},
		"text between events":   {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "data: {}\n\nBad gateway\n\n") }, "API describes"},
		"a part of garbage":     {geminiEvents(geminiPiece(`7`, "")), "API describes"},
		"no candidates":         {llmtest.EmptyChoices(), "no candidates in response"},
		"no candidates, stream": {geminiEvents(`{"usageMetadata":{}}`), "no candidates in response"},
		"null":                  {llmtest.JSON(200, `null`), "no candidates in response"},
		"an empty list":         {llmtest.JSON(200, `[]`), "neither text nor tool calls"},
		"nothing":               {llmtest.JSON(200, ``), "API describes"},
		"half a JSON":           {llmtest.JSON(200, `{"candidates":[{`), "API describes"},
		"a page":                {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>data") }, "API describes"},
		"neither":               {llmtest.Finish("", "stop"), "neither text nor tool calls"},
		"OTHER":                 {llmtest.Finish("", "OTHER"), "neither text nor tool calls"},
		"length only":           {llmtest.Finish("", "length"), "length limit"},
		"a malformed call":      {geminiEvents(geminiPiece(``, "MALFORMED_FUNCTION_CALL")), "MALFORMED_FUNCTION_CALL"},
		"an unexpected call":    {llmtest.Finish("a", "UNEXPECTED_TOOL_CALL"), "UNEXPECTED_TOOL_CALL"},
		"too large":             {llmtest.Huge(17 << 20), "16 MiB"},
		"too large at once":     {geminiEvents(geminiPiece(`{"text":"`+strings.Repeat("x", 17<<20)+`"}`, "STOP")), "16 MiB"},
		"too large and whole":   {llmtest.JSON(200, geminiPiece(`{"text":"`+strings.Repeat("x", 17<<20)+`"}`, "STOP")), "16 MiB"},
		"too many signatures": {func(w http.ResponseWriter, r *http.Request) {
			signed := geminiPiece(`{"text":"a","thoughtSignature":"`+strings.Repeat("A", 8<<20)+`"}`, "")
			geminiEvents(signed, signed, signed)(w, r)
		}, "16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := newGemini(t)
			s.Reply(tt.answer)
			if e := sample.Failure(t, router, flash); e.Kind != contract.KindModelGarbage || !strings.Contains(e.Message, tt.want) {
				t.Errorf("error = %s, %s", e.Kind, e.Message)
			}
		})
	}
}

func TestGeminiAnswersThatBreakOff(t *testing.T) {
	for name, tt := range map[string]struct {
		answer llmtest.Answer
		want   string
	}{
		"ended early":    {llmtest.EndAfter(2, strings.Repeat("hello ", 20)), "google broke off its answer"},
		"no event":       {geminiEvents(), "google broke off its answer"},
		"no data":        {func(w http.ResponseWriter, r *http.Request) { geminiEvents()(w, r); fmt.Fprint(w, ": ping\n\n") }, "google broke off its answer"},
		"cut":            {llmtest.CutAfter(2, strings.Repeat("hello ", 20)), "google broke off its answer: unexpected EOF"},
		"reset":          {llmtest.Reset(), "google cannot be reached: EOF"},
		"half an answer": {llmtest.Truncated(), "google broke off its answer: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := newGemini(t)
			s.Reply(tt.answer)
			if e := sample.Failure(t, router, flash); e.Kind != contract.KindModelUnavailable || e.Message != tt.want {
				t.Errorf("error = %s, %s", e.Kind, e.Message)
			}
		})
	}
	s, _ := newGemini(t)
	s.Reply(llmtest.HangAfter(1, strings.Repeat("hello ", 20)))
	e := sample.Failure(t, router.New(router.Options{Getenv: sample.Keys, BaseURL: s.URL(), Timeout: 30 * time.Millisecond}), flash)
	if e.Message != "google did not answer within 30ms" {
		t.Errorf("error = %s, %s", e.Kind, e.Message)
	}
}

func TestGeminiFailures(t *testing.T) {
	status := func(code int, message, status, details string) string {
		return fmt.Sprintf("{\n  \"error\": {\"code\": %d, \"message\": %q, \"status\": %q, \"details\": [%s]}\n}", code, message, status, details)
	}
	quota := `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17.5s"}`
	badKey := `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`
	for name, tt := range map[string]struct {
		answer llmtest.Answer
		kind   contract.Kind
		want   string
		after  time.Duration
	}{
		"a bad key":      {llmtest.JSON(400, status(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT", badKey)), contract.KindModelAuth, "google API error (400): API key not valid. Please pass a valid API key. (check GEMINI_API_KEY)", 0},
		"an expired key": {llmtest.JSON(400, status(400, "API key expired. Please renew the API key.", "INVALID_ARGUMENT", badKey)), contract.KindModelAuth, "google API error (400): API key expired. Please renew the API key.", 0},
		"401":            {llmtest.Fail(401, "no"), contract.KindModelAuth, "google API error (401): no (check GEMINI_API_KEY)", 0},
		"403":            {llmtest.Fail(403, "no"), contract.KindModelAuth, "google API error (403): no (check GEMINI_API_KEY)", 0},
		"404":            {llmtest.Fail(404, "models/gemini-2.5-flash is not found for API version v1beta"), contract.KindModelRequest, "google API error (404): models/gemini-2.5-flash is not found for API version v1beta", 0},
		"400":            {llmtest.JSON(400, "["+status(400, "Invalid JSON payload received.", "INVALID_ARGUMENT", "")+"]"), contract.KindModelRequest, "google API error (400): Invalid JSON payload received.", 0},
		"too long":       {llmtest.Fail(400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), contract.KindModelContext, "google API error (400): The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 0},
		"429":            {llmtest.JSON(429, status(429, "Quota exceeded.", "RESOURCE_EXHAUSTED", quota)), contract.KindModelRateLimited, "google API error (429): Quota exceeded.", 17500 * time.Millisecond},
		"429 in a list":  {llmtest.JSON(429, "["+status(429, "Quota exceeded.", "RESOURCE_EXHAUSTED", quota)+"]"), contract.KindModelRateLimited, "google API error (429): Quota exceeded.", 17500 * time.Millisecond},
		"429, header":    {llmtest.After("3", llmtest.JSON(429, status(429, "Quota exceeded.", "RESOURCE_EXHAUSTED", quota))), contract.KindModelRateLimited, "google API error (429): Quota exceeded.", 3 * time.Second},
		"429, no detail": {llmtest.JSON(429, `{"error":{"code":429,"message":"slow","details":"x"}}`), contract.KindModelRateLimited, "google API error (429): slow", 0},
		"500":            {llmtest.Fail(500, "An internal error has occurred."), contract.KindModelUnavailable, "google API error (500): An internal error has occurred.", 0},
		"503":            {llmtest.Fail(503, "The model is overloaded."), contract.KindModelUnavailable, "google API error (503): The model is overloaded.", 0},
		"in the stream":  {geminiEvents(geminiPiece(`{"text":"a"}`, ""), status(503, "The model is overloaded.", "UNAVAILABLE", "")), contract.KindModelUnavailable, "google API error (503): The model is overloaded.", 0},
		"bare, in lines": {func(w http.ResponseWriter, r *http.Request) {
			geminiEvents(geminiPiece(`{"text":"a"}`, ""))(w, r)
			fmt.Fprint(w, status(429, "slow", "", quota))
		}, contract.KindModelRateLimited, "google API error (429): slow", 17500 * time.Millisecond},
		"with status 200": {llmtest.JSON(200, `{"error":{"message":"what"}}`), contract.KindModelUnavailable, "google API error (500): what", 0},
		"a redirect":      {llmtest.WithHeader("Location", "https://example.com/", llmtest.JSON(307, `{}`)), contract.KindModelGarbage, "google API error (307): Temporary Redirect", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := newGemini(t)
			s.Reply(tt.answer)
			e := sample.Failure(t, router, flash)
			if e.Kind != tt.kind || e.Message != tt.want || e.RetryAfter != tt.after || s.Served() != 1 {
				t.Errorf("error = %s, %q, after %s, %d requests\nwant    %s, %q, after %s", e.Kind, e.Message, e.RetryAfter, s.Served(), tt.kind, tt.want, tt.after)
			}
		})
	}
}

func TestTheKeyOfGeminiIsInNoError(t *testing.T) {
	for _, status := range []int{200, 307, 400, 401, 429, 500} {
		s, router := newGemini(t)
		s.Reply(func(w http.ResponseWriter, r *http.Request) {
			text, err := json.Marshal(fmt.Sprintf("%s %v", r.Header.Get("X-Goog-Api-Key"), r.Header))
			if err != nil {
				panic(err)
			}
			llmtest.JSON(status, `{"error":{"message":`+string(text)+`,"status":`+string(text)+`}}`)(w, r)
		})
		sample.NoKey(t, sample.Failure(t, router, flash))
	}
	base := "http://user:" + sample.Canary + "@127.0.0.1:1/v1beta?key=" + sample.Canary
	sample.NoKey(t, sample.Failure(t, router.New(router.Options{Getenv: sample.Keys, BaseURL: base}), flash))
	sample.NoKey(t, sample.Failure(t, router.New(router.Options{Getenv: sample.Keys, BaseURL: base[:len(base)-31] + "/openai"}), flash))
	withLine := func(string) string { return sample.Canary + "\n" + sample.Canary }
	e := sample.Failure(t, router.New(router.Options{Getenv: withLine, BaseURL: "http://127.0.0.1:1"}), flash)
	sample.NoKey(t, e)
	if errors.Unwrap(e) != nil {
		sample.NoKey(t, errors.Unwrap(e))
	}
}
