package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

func TestFailuresByStatus(t *testing.T) {
	long := strings.Repeat("Größe ", 200)
	for name, tt := range map[string]struct {
		answer llmtest.Answer
		kind   contract.Kind
		want   string // the message, or its beginning when it ends in …
		after  time.Duration
	}{
		"401":       {llmtest.Fail(401, "Incorrect API key provided."), contract.KindModelAuth, "openai API error (401): Incorrect API key provided. (check OPENAI_API_KEY)", 0},
		"402":       {llmtest.Fail(402, "Insufficient credits"), contract.KindModelAuth, "openai API error (402): Insufficient credits (check OPENAI_API_KEY)", 0},
		"403":       {llmtest.Fail(403, "Country not supported"), contract.KindModelAuth, "openai API error (403): Country not supported (check OPENAI_API_KEY)", 0},
		"404":       {llmtest.Fail(404, "No such model"), contract.KindModelRequest, "openai API error (404): No such model (model gpt-4o)", 0},
		"404 named": {llmtest.Fail(404, "The model `gpt-4o` does not exist"), contract.KindModelRequest, "openai API error (404): The model `gpt-4o` does not exist", 0},
		"400":       {llmtest.Fail(400, "Invalid schema"), contract.KindModelRequest, "openai API error (400): Invalid schema", 0},
		"422":       {llmtest.JSON(422, `{"detail":[{"loc":["body"],"msg":"Field required"}]}`), contract.KindModelRequest, "openai API error (422): Field required", 0},
		"413":       {llmtest.Fail(413, "Request too large"), contract.KindModelContext, "openai API error (413): Request too large", 0},
		"context by code": {
			llmtest.FailWith(400, "Too much.", "invalid_request_error", "context_length_exceeded"),
			contract.KindModelContext, "openai API error (400): Too much.", 0,
		},
		"context, Anthropic": {
			llmtest.JSON(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`),
			contract.KindModelContext, "openai API error (400): prompt is too long: 210000 tokens > 200000 maximum", 0,
		},
		"context, Google": {
			llmtest.JSON(400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`),
			contract.KindModelContext, "openai API error (400): The input token count…", 0,
		},
		"context, Mistral": {
			llmtest.JSON(400, `{"object":"error","message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","code":"3051"}`),
			contract.KindModelContext, "openai API error (400): Prompt contains…", 0,
		},
		"bad key, Google": {
			llmtest.JSON(400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`),
			contract.KindModelAuth, "openai API error (400): API key not valid…", 0,
		},
		"429":               {llmtest.RateLimit(""), contract.KindModelRateLimited, "openai API error (429): Rate limit reached for requests.", 0},
		"429 in seconds":    {llmtest.RateLimit("7"), contract.KindModelRateLimited, "openai API error (429)…", 7 * time.Second},
		"429 by a past day": {llmtest.RateLimit("Wed, 21 Oct 2015 07:28:00 GMT"), contract.KindModelRateLimited, "openai API error (429)…", 0},
		"429 in ms":         {llmtest.WithHeader("retry-after-ms", "250", llmtest.RateLimit("9")), contract.KindModelRateLimited, "openai…", 250 * time.Millisecond},
		"429 nonsense":      {llmtest.RateLimit("soon"), contract.KindModelRateLimited, "openai…", 0},
		"429 negative":      {llmtest.RateLimit("-3"), contract.KindModelRateLimited, "openai…", 0},
		"429 without end":   {llmtest.RateLimit("1e300"), contract.KindModelRateLimited, "openai…", 24 * time.Hour},
		"no quota":          {llmtest.After("7", llmtest.NoQuota()), contract.KindModelAuth, "openai API error (429): You exceeded your current quota, please check your plan and billing details.", 0},
		"500":               {llmtest.Fail(500, "The server had an error"), contract.KindModelUnavailable, "openai API error (500): The server had an error", 0},
		"503":               {llmtest.After("2", llmtest.Fail(503, "Overloaded")), contract.KindModelUnavailable, "openai API error (503): Overloaded", 2 * time.Second},
		"529":               {llmtest.JSON(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), contract.KindModelUnavailable, "openai API error (529): Overloaded", 0},
		"408":               {llmtest.JSON(408, ``), contract.KindModelUnavailable, "openai API error (408): Request Timeout", 0},
		"html":              {llmtest.JSON(502, "<html>Bad\nGateway</html>"), contract.KindModelUnavailable, "openai API error (502): Bad Gateway", 0},
		"a text, Ollama":    {llmtest.JSON(400, `{"error":"does not support tools"}`), contract.KindModelRequest, "openai API error (400): does not support tools", 0},
		"several lines":     {llmtest.Fail(400, "a\n\tb\r\nc"), contract.KindModelRequest, "openai API error (400): a b c", 0},
		"a long message":    {llmtest.Fail(400, long), contract.KindModelRequest, "openai API error (400): Größe Größe…", 0},
		"a long 404":        {llmtest.Fail(404, long), contract.KindModelRequest, "openai API error (404): Größe Größe…", 0},
		"no such status":    {llmtest.JSON(499, `null`), contract.KindModelRequest, "openai API error (499): no reason given", 0},
		"a failure with status 200": {
			llmtest.JSON(200, `{"id":"x","error":{"code":502,"message":"Provider returned error"}}`),
			contract.KindModelUnavailable, "openai API error (502): Provider returned error", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := sample.NewServer(t)
			s.Reply(tt.answer)
			e := sample.Failure(t, router, "openai:gpt-4o")
			prefix, cut := strings.CutSuffix(tt.want, "…")
			if e.Kind != tt.kind || e.RetryAfter != tt.after || !strings.HasPrefix(e.Message, prefix) || !cut && e.Message != tt.want {
				t.Errorf("error = %s, %s, after %s\nwant    %s, %s, after %s", e.Kind, e.Message, e.RetryAfter, tt.kind, tt.want, tt.after)
			}
			if s.Served() != 1 {
				t.Errorf("%d requests; retries are not ours", s.Served())
			}
		})
	}
}

func TestRetryAfterAsADate(t *testing.T) {
	s, router := sample.NewServer(t)
	s.Reply(llmtest.RateLimit(time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)))
	if e := sample.Failure(t, router, "openai:gpt-4o"); e.RetryAfter < 59*time.Minute || e.RetryAfter > time.Hour {
		t.Errorf("retry after %s", e.RetryAfter)
	}
}

func TestAnswersThatMakeNoSense(t *testing.T) {
	for name, answer := range map[string]llmtest.Answer{
		"garbage":       llmtest.Garbage(),
		"empty choices": llmtest.EmptyChoices(),
		"empty object":  llmtest.JSON(200, `{}`),
		"null":          llmtest.JSON(200, `null`),
		"nothing":       llmtest.JSON(200, ``),
		"neither":       llmtest.Finish("", "stop"),
		"length only":   llmtest.Finish("", "length"),
		"half a JSON":   llmtest.JSON(200, `{"choices":[{"message":{"content":"x`),
		"html": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		},
		"too large": llmtest.Huge(17 << 20),
		"too large in pieces": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for range 17 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		},
		"a redirect to nowhere": llmtest.JSON(304, ``),
	} {
		t.Run(name, func(t *testing.T) {
			s, router := sample.NewServer(t)
			s.Reply(answer)
			if e := sample.Failure(t, router, "openai:gpt-4o"); e.Kind != contract.KindModelGarbage {
				t.Errorf("error = %s, %s", e.Kind, e.Message)
			}
		})
	}
}

func TestACertificateThatIsTrusted(t *testing.T) {
	s := llmtest.NewTLSServer()
	defer s.Close()
	s.Always(llmtest.Say("ok"))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: s.Trust()}}
	router := router.New(router.Options{Getenv: sample.Keys, BaseURL: s.URL(), HTTPClient: client})
	if _, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{sample.User("hi")}}); err != nil {
		t.Error(err)
	}
	client.CloseIdleConnections()
}

func TestCancellationReturnsAtOnce(t *testing.T) {
	for name, hang := range map[string]llmtest.Answer{"no answer": llmtest.Hang(), "half an answer": llmtest.HangMidway()} {
		t.Run(name, func(t *testing.T) {
			s, router := sample.NewServer(t)
			arrived := make(chan struct{})
			s.Reply(func(w http.ResponseWriter, r *http.Request) { close(arrived); hang(w, r) })
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-arrived; cancel() }()
			_, err := router.Generate(ctx, llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{sample.User("hi")}})
			if !errors.Is(err, context.Canceled) || err.Error() != "the call to openai was cancelled" {
				t.Errorf("error = %v", err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := router.New(router.Options{}).Generate(ctx, llm.Request{Model: contract.DemoModel}); !errors.Is(err, context.Canceled) {
		t.Errorf("demo: error = %v", err)
	}
}

func TestKeysAreInNoError(t *testing.T) {
	echo := func(status int, form string) llmtest.Answer {
		return func(w http.ResponseWriter, r *http.Request) {
			key := r.Header.Get("Authorization")
			text, err := json.Marshal(fmt.Sprintf(form, key, url.QueryEscape(key), strings.TrimPrefix(key, "Bearer ")[:14], r.Header))
			if err != nil {
				panic(err)
			}
			w.Header().Set("X-Echo", key)
			llmtest.JSON(status, `{"error":{"message":`+string(text)+`,"type":`+string(text)+`,"code":`+string(text)+`}}`)(w, r)
		}
	}
	for _, status := range []int{200, 400, 401, 404, 429, 500} {
		for _, form := range []string{"key %s, %s, %s…, %v", strings.Repeat("x", 440) + " %s %s %s %v"} {
			s, router := sample.NewServer(t)
			s.Reply(echo(status, form))
			sample.NoKey(t, sample.Failure(t, router, "openai:gpt-4o"))
		}
	}
}

// These words are shown and recorded unchanged; only texts may be long.
func TestAProvidersWordsAreShort(t *testing.T) {
	s, router := sample.NewServer(t)
	long := strings.Repeat("x", 5000)
	s.Reply(llmtest.JSON(http.StatusOK, `{"model":"m\n`+long+`","choices":[{"message":{"content":"hi"},"finish_reason":"odd\n`+long+`"}]}`))
	reply, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{sample.User("hi")}})
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Finish) > 500 || len(reply.Model) > 500 || strings.Contains(reply.Finish+reply.Model, "\n") {
		t.Errorf("finish of %d bytes, model of %d", len(reply.Finish), len(reply.Model))
	}
}

func TestSecretsInHeadersOfAnEntryAreInNoError(t *testing.T) {
	for _, model := range []contract.Provider{contract.ProviderCompatible, contract.ProviderAnthropic, contract.ProviderGoogle} {
		s := llmtest.NewServer()
		t.Cleanup(s.Close)
		s.Reply(func(w http.ResponseWriter, r *http.Request) {
			llmtest.JSON(http.StatusUnauthorized, `{"error":{"message":"no such token: `+r.Header.Get("X-Gate")+`, team `+r.Header.Get("X-Team")+`"}}`)(w, r)
		})
		router := router.New(router.Options{
			Getenv: func(name string) string { return strings.ToLower(name) },
			Models: []llm.Entry{{
				Name: "gate", Provider: model, Model: "m", BaseURL: s.URL(),
				Headers: map[string]string{"X-Gate": "Bearer " + sample.Canary, "X-Team": "a workshop"}, Secrets: []string{"Bearer " + sample.Canary},
			}},
		})
		e := sample.Failure(t, router, "gate")
		sample.NoKey(t, e)
		if !strings.Contains(e.Message, "team a workshop") {
			t.Errorf("%s: a value that is no secret is hidden: %s", model, e.Message)
		}
	}
}

func TestABrokenStatusLineDoesNotShowTheKey(t *testing.T) {
	raw := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HTTP/1.1 %s\r\n\r\n", r.Header.Get("Authorization"))
	}))
	defer raw.Close()
	e := sample.Failure(t, router.New(router.Options{Getenv: sample.Keys, BaseURL: raw.URL}), "openai:gpt-4o")
	if e.Kind != contract.KindModelUnavailable {
		t.Errorf("error = %s, %s", e.Kind, e.Message)
	}
	sample.NoKey(t, e)
}
