package openai_test

import (
	"io"
	"net/http"
	"runtime"
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

func TestFailuresToldInAStream(t *testing.T) {
	for name, tt := range map[string]struct {
		event string
		kind  contract.Kind
		want  string
	}{
		"OpenRouter": {
			`{"id":"g","object":"chat.completion.chunk","model":"m","provider":"x","error":{"code":"server_error","message":"Provider disconnected unexpectedly"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`,
			contract.KindModelUnavailable, "openai API error (in its answer): Provider disconnected unexpectedly",
		},
		"OpenRouter, with a status": {`{"error":{"code":429,"message":"Rate limited upstream"}}`, contract.KindModelRateLimited, "openai API error (429): Rate limited upstream"},
		"OpenRouter, in the choice": {`{"choices":[{"delta":{},"error":{"code":402,"message":"Out of credits"}}]}`, contract.KindModelAuth, "openai API error (402): Out of credits (check OPENAI_API_KEY)"},
		"vLLM":                      {`{"error":{"object":"error","message":"This model's maximum context length is 4096 tokens","type":"BadRequestError","code":400}}`, contract.KindModelContext, "openai API error (400): This model's maximum context length is 4096 tokens"},
		"vLLM, older":               {`{"object":"error","message":"boom","type":"InternalServerError","code":500}`, contract.KindModelUnavailable, "openai API error (500): boom"},
		"Ollama":                    {`{"error":"an error was encountered while running the model"}`, contract.KindModelUnavailable, "openai API error (in its answer): an error was encountered while running the model"},
		"OpenAI, overloaded":        {`{"error":{"message":"Try later","type":"overloaded_error","code":null}}`, contract.KindModelUnavailable, "openai API error (in its answer): Try later"},
		"OpenAI, no quota":          {`{"error":{"message":"No quota","type":"insufficient_quota","code":"insufficient_quota"}}`, contract.KindModelAuth, "openai API error (in its answer): No quota"},
		"OpenAI, the key":           {`{"error":{"message":"Bad key","type":"authentication_error","code":"invalid_api_key"}}`, contract.KindModelAuth, "openai API error (in its answer): Bad key (check OPENAI_API_KEY)"},
		"OpenAI, the request":       {`{"error":{"message":"No","type":"invalid_request_error"}}`, contract.KindModelRequest, "openai API error (in its answer): No"},
		"a context by its words":    {`{"error":{"message":"prompt is too long: 9 tokens"}}`, contract.KindModelContext, "openai API error (in its answer): prompt is too long: 9 tokens"},
		"no words":                  {`{"error":{}}`, contract.KindModelUnavailable, "openai API error (in its answer): Internal Server Error"},
		"only a reason":             {`{"choices":[{"delta":{},"finish_reason":"error"}]}`, contract.KindModelUnavailable, "openai broke off its answer"},
		"a list":                    {`[1]`, contract.KindModelGarbage, "openai gave an answer that makes no sense: the answer is not what its API describes"},
	} {
		t.Run(name, func(t *testing.T) {
			s, router := sample.NewServer(t)
			s.Reply(llmtest.Frames(piece(`{"content":"So"}`), "data: "+tt.event+"\n\n", endOfStream("stop")))
			if e := sample.Failure(t, router, "openai:gpt-4o"); e.Kind != tt.kind || e.Message != tt.want {
				t.Errorf("error = %s, %s\nwant    %s, %s", e.Kind, e.Message, tt.kind, tt.want)
			}
		})
	}
}

// A stream may be much longer than the part that is kept.
func TestALongStreamTakesNoMemory(t *testing.T) {
	const size = 50 << 20
	thought := piece(`{"reasoning_content":"` + strings.Repeat("hm ", 300) + `"}`)
	s, router := sample.NewServer(t)
	s.KeepRequests(false)
	s.Reply(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for sent := 0; sent < size; sent += len(thought) {
			if _, err := io.WriteString(w, ": keep-alive\n\n"+thought); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, piece(`{"content":"done"}`)+endOfStream("stop"))
	})
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	deltas, most := 0, uint64(0)
	r, err := router.Generate(t.Context(), llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{sample.User("hi")}, Deltas: func(llm.Delta) {
		if deltas++; deltas%5000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	}})
	if err != nil || r.Text != "done" || deltas < 40_000 {
		t.Fatalf("reply %+v, %v after %d deltas", r, err, deltas)
	}
	grown := int64(most) - int64(before.HeapAlloc)
	if t.Logf("the heap grew by %d KiB", grown>>10); grown > 4<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

func TestStreamsWithoutBound(t *testing.T) {
	for name, endless := range map[string]string{
		"text":         piece(`{"content":"` + strings.Repeat("x", 32<<10) + `"}`),
		"thoughts":     piece(`{"reasoning":"` + strings.Repeat("x", 32<<10) + `"}`),
		"calls":        callPiece(`"function":{"name":"` + strings.Repeat("x", 1<<10) + `"}`),
		"nameless":     callPiece(`"index":0,"function":{"arguments":"` + strings.Repeat("x", 32<<10) + `"}`),
		"one event":    "data: " + strings.Repeat("x", 32<<10) + "\n",
		"one line":     strings.Repeat("x", 32<<10),
		"one refusal":  piece(`{"refusal":"` + strings.Repeat("x", 32<<10) + `"}`),
		"one argument": callPiece(`"index":0,"function":{"name":"x","arguments":"` + strings.Repeat("x", 32<<10) + `"}`),
	} {
		t.Run(name, func(t *testing.T) {
			s, router := sample.NewServer(t)
			s.Reply(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, endless); err != nil {
						return
					}
				}
			})
			if e := sample.Failure(t, router, "openai:gpt-4o"); e.Kind != contract.KindModelGarbage {
				t.Errorf("error = %s, %s", e.Kind, e.Message)
			}
		})
	}
}

// BenchmarkFirstDelta measures the time from sending the first piece to its delta.
func BenchmarkFirstDelta(b *testing.B) {
	s := llmtest.NewServer()
	defer s.Close()
	s.KeepRequests(false)
	var sent atomic.Int64 // nanoseconds since start
	start := time.Now()
	held := make(chan struct{})
	s.Always(func(w http.ResponseWriter, r *http.Request) {
		llmtest.Frames(piece(`{"role":"assistant"}`))(w, r)
		sent.Store(int64(time.Since(start)))
		llmtest.Frames(piece(`{"content":"a"}`))(w, r)
		<-held
		llmtest.Frames(endOfStream("stop"))(w, r)
	})
	router := router.New(router.Options{Getenv: sample.Keys, BaseURL: s.URL()})
	var all, most time.Duration
	request := llm.Request{Model: "openai:gpt-4o", Messages: []contract.Message{sample.User("hi")}, Deltas: func(llm.Delta) {
		took := time.Since(start) - time.Duration(sent.Load())
		all, most = all+took, max(most, took)
		held <- struct{}{}
	}}
	for b.Loop() {
		if _, err := router.Generate(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(all.Microseconds())/float64(b.N), "µs/first-delta")
	b.ReportMetric(float64(most.Microseconds()), "µs/slowest")
}
