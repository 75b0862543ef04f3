package llm_test

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

// formats are the wire formats in which every trouble is tested: a provider's name and a model
// of it.
var formats = []struct{ name, model string }{
	{"openai", "openai:gpt-4o"},
	{"anthropic", "anthropic:claude-sonnet-4-5"},
	{"google", "google:gemini-2.5-flash"},
}

// trouble is a failure, and its expected result: an error, or a reply that checkReply checks.
type trouble struct {
	answer  llmtest.Answer
	address func(*testing.T) string // instead of a server with that answer
	timeout time.Duration
	cancel  bool // after the first delta

	kind       contract.Kind
	message    string // the error's message, after the name of the provider
	after      time.Duration
	cause      error
	deltas     bool // deltas arrived before the failure
	checkReply func(*testing.T, llm.Reply)
	// except are the formats that do not know the trouble.
	except []string
}

// speech is long enough for a stream to end within it, in any format.
var speech = strings.Repeat("So it goes. ", 20)

// longMessage is repeated to a message that must be cut without showing the key.
const longMessage = "Key " + sample.Canary + " is wrong. "

var (
	badKey = strings.Repeat(longMessage, 100)
	twins  = []llm.Call{llmtest.ToolCall("a", "resources_list", `{}`), llmtest.ToolCall("a", "resources_list", `{"pattern":"x"}`)}
)

var troubles = map[string]trouble{
	"401":                      {answer: llmtest.Fail(401, badKey), kind: contract.KindModelAuth, message: " API error (401): Key [secret] is wrong."},
	"403":                      {answer: llmtest.Fail(403, "Country not supported"), kind: contract.KindModelAuth, message: " API error (403): Country not supported (check "},
	"404":                      {answer: llmtest.Fail(404, "No such model"), kind: contract.KindModelRequest, message: " API error (404): No such model (model "},
	"400":                      {answer: llmtest.Fail(400, "Invalid schema for function 'x'"), kind: contract.KindModelRequest, message: " API error (400): Invalid schema"},
	"413":                      {answer: llmtest.Fail(413, "Request too large"), kind: contract.KindModelContext, message: " API error (413): Request too large"},
	"a context that is full":   {answer: llmtest.FailWith(400, "prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error", "context_length_exceeded"), kind: contract.KindModelContext, message: "210000 tokens"},
	"429":                      {answer: llmtest.RateLimit(""), kind: contract.KindModelRateLimited, message: " API error (429): Rate limit"},
	"429 with a time":          {answer: llmtest.RateLimit("7"), kind: contract.KindModelRateLimited, message: " API error (429): Rate limit", after: 7 * time.Second},
	"500":                      {answer: llmtest.Fail(500, "The server had an error"), kind: contract.KindModelUnavailable, message: " API error (500): The server had an error"},
	"503 with a time":          {answer: llmtest.After("2", llmtest.Fail(503, "Overloaded")), kind: contract.KindModelUnavailable, message: " API error (503): Overloaded", after: 2 * time.Second},
	"connection refused":       {address: closedAddress, kind: contract.KindModelUnavailable, message: " cannot be reached: dial tcp"},
	"a certificate of nobody":  {address: untrustedAddress, kind: contract.KindModelUnavailable, message: " cannot be reached: tls: failed to verify certificate"},
	"reset":                    {answer: llmtest.Reset(), kind: contract.KindModelUnavailable, message: " cannot be reached: EOF"},
	"half an answer":           {answer: llmtest.Truncated(), kind: contract.KindModelUnavailable, message: " broke off its answer: unexpected EOF"},
	"reset in the stream":      {answer: llmtest.CutAfter(6, speech), kind: contract.KindModelUnavailable, message: " broke off its answer: unexpected EOF", deltas: true},
	"a stream without its end": {answer: llmtest.EndAfter(6, speech), kind: contract.KindModelUnavailable, message: " broke off its answer", deltas: true},
	"garbage":                  {answer: llmtest.Garbage(), kind: contract.KindModelGarbage, message: " gave an answer that makes no sense"},
	"garbage in the stream":    {answer: llmtest.GarbageAfter(6, speech), kind: contract.KindModelGarbage, message: " gave an answer that makes no sense", deltas: true},
	"an error in the stream": {
		answer: llmtest.FailAfter(6, speech, 500, badKey, "server_error", ""),
		kind:   contract.KindModelUnavailable, message: "Key [secret] is wrong.", deltas: true,
	},
	"a rate limit in the stream": {
		answer: llmtest.FailAfter(6, speech, 429, "Slow down", "rate_limit_error", "rate_limit_exceeded"),
		kind:   contract.KindModelRateLimited, message: "Slow down", deltas: true,
	},
	"nothing said": {answer: llmtest.Finish("", llm.FinishStop), kind: contract.KindModelGarbage, message: "neither text nor tool calls"},
	"silence": {
		answer: llmtest.Hang(), timeout: 50 * time.Millisecond,
		kind: contract.KindModelUnavailable, message: " did not answer within 50ms", cause: context.DeadlineExceeded,
	},
	"half an answer, then silence": {
		answer: llmtest.HangMidway(), timeout: 50 * time.Millisecond,
		kind: contract.KindModelUnavailable, message: " did not answer within 50ms", cause: context.DeadlineExceeded,
	},
	"silence in the stream": {
		answer: llmtest.HangAfter(6, speech), timeout: 200 * time.Millisecond,
		kind: contract.KindModelUnavailable, message: " did not answer within 200ms", cause: context.DeadlineExceeded,
	},
	"cancelled in the stream": {
		answer: llmtest.HangAfter(6, speech), cancel: true,
		kind: contract.KindModelUnavailable, message: "was cancelled", cause: context.Canceled, deltas: true,
	},
	"an unknown reason to stop": {answer: llmtest.Finish("hm", "tired"), checkReply: func(t *testing.T, r llm.Reply) {
		if r.Text != "hm" || r.Finish != "tired" {
			t.Errorf("reply %+v", r)
		}
	}},
	"arguments that are broken": {answer: llmtest.CallTools("", llmtest.ToolCall("a", "resources_list", `{"x":`)), except: []string{"google"}, checkReply: func(t *testing.T, r llm.Reply) {
		if len(r.Calls) != 1 || r.Calls[0].Problem != "The arguments are not valid JSON." || string(r.Calls[0].Arguments) != "{}" {
			t.Errorf("calls %+v", r.Calls)
		}
	}},
	"a tool that is not on offer": {answer: llmtest.CallTools("", llmtest.ToolCall("a", "nope", `{}`)), checkReply: func(t *testing.T, r llm.Reply) {
		if len(r.Calls) != 1 || r.Calls[0].Name != "nope" || r.Finish != llm.FinishToolCalls {
			t.Errorf("reply %+v", r)
		}
	}},
	"two calls with one ID": {answer: llmtest.CallTools("", twins...), checkReply: func(t *testing.T, r llm.Reply) {
		if len(r.Calls) != 2 || r.Calls[0].ID == r.Calls[1].ID || string(r.Calls[1].Arguments) != `{"pattern":"x"}` {
			t.Errorf("calls %+v", r.Calls)
		}
	}},
	"5 MB": {answer: llmtest.Huge(5 << 20), checkReply: func(t *testing.T, r llm.Reply) {
		if len(r.Text) != 5<<20 {
			t.Errorf("%d bytes", len(r.Text))
		}
	}},
}

// closedAddress returns an address with credentials at a port that is closed.
func closedAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://user:" + sample.Canary + "@" + l.Addr().String() + "/v1?key=" + sample.Canary
}

// untrustedAddress returns the address of a server with a certificate that no client trusts.
func untrustedAddress(t *testing.T) string {
	s := llmtest.NewTLSServer()
	t.Cleanup(s.Close)
	s.Always(llmtest.Say("ok"))
	return s.URL()
}

func TestTroubleInEveryFormat(t *testing.T) {
	for _, format := range formats {
		for name, tt := range troubles {
			if slices.Contains(tt.except, format.name) {
				continue
			}
			t.Run(format.name+"/"+name, func(t *testing.T) {
				r, said, err := tt.generate(t, format.model)
				if tt.deltas && said == 0 {
					t.Error("no delta")
				}
				if tt.checkReply == nil {
					tt.check(t, format.name, err)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				tt.checkReply(t, r)
			})
		}
	}
}

// generate calls a model that has the trouble, and counts its deltas. No delta may arrive
// after the call has returned.
func (tt trouble) generate(t *testing.T, model string) (llm.Reply, int, error) {
	s := llmtest.NewServer()
	defer s.Close() // releases answers that hang
	address := s.URL()
	if tt.address != nil {
		address = tt.address(t)
	}
	s.Reply(tt.answer)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var returned atomic.Bool
	said := 0
	router := router.New(router.Options{Getenv: sample.Keys, BaseURL: address, Timeout: cmp.Or(tt.timeout, sample.Patience)})
	r, err := router.Generate(ctx, llm.Request{
		Model: model, Messages: []contract.Message{sample.User("hi")}, Tools: sample.Resources,
		Deltas: func(llm.Delta) {
			if said++; returned.Load() {
				t.Error("a delta after the call")
			}
			if tt.cancel {
				cancel()
			}
		},
	})
	returned.Store(true)
	if n := s.Served(); tt.address == nil && n != 1 && (n > 1 || tt.timeout == 0) { // the timeout may pass before the request arrives
		t.Errorf("%d requests; retries are not ours. Refused: %q", s.Served(), s.Refused())
	}
	return r, said, err
}

func (tt trouble) check(t *testing.T, provider string, err error) {
	t.Helper()
	e := sample.Plain(t, err)
	if e.Kind != tt.kind || e.RetryAfter != tt.after || !strings.Contains(e.Message, provider) || !strings.Contains(e.Message, tt.message) {
		t.Errorf("error = %s, %s, after %s\nwant    %s, …%s…, after %s", e.Kind, e.Message, e.RetryAfter, tt.kind, tt.message, tt.after)
	}
	if tt.cause != nil && !errors.Is(err, tt.cause) {
		t.Errorf("cause %v, want %v", e.Err, tt.cause)
	}
	sample.NoKey(t, err)
}
