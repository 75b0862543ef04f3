package llmtest

import (
	"net/http"
	"strconv"
	"strings"

	"agent-stop-and-go/activities/llm"
)

// Fail answers with an error of the given status, in the form of the request's
// format.
func Fail(status int, message string) Answer {
	kind, code := "invalid_request_error", ""
	switch {
	case status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case status == http.StatusNotFound:
		code = "model_not_found"
	case status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return FailWith(status, message, kind, code)
}

// FailWith is Fail with a type and a code, such as context_length_exceeded. Formats without
// them omit them.
func FailWith(status int, message, kind, code string) Answer {
	return fail(&apiError{status, message, kind, "", nullStr(code)})
}

// RateLimit answers 429, with a Retry-After header unless it is empty.
func RateLimit(retryAfter string) Answer {
	return After(retryAfter, FailWith(http.StatusTooManyRequests,
		"Rate limit reached for requests.", "requests", "rate_limit_exceeded"))
}

// NoQuota answers 429 as OpenAI does when the account has no money left.
func NoQuota() Answer {
	return FailWith(http.StatusTooManyRequests,
		"You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", "insufficient_quota")
}

// After adds a Retry-After header to an answer.
func After(retryAfter string, a Answer) Answer {
	if retryAfter == "" {
		return a
	}
	return WithHeader("Retry-After", retryAfter, a)
}

// WithHeader adds a header to an answer.
func WithHeader(name, value string, a Answer) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(name, value)
		a(w, r)
	}
}

// Garbage answers 200 with a body that is not JSON.
func Garbage() Answer { return JSON(http.StatusOK, "{]<html>") }

// EmptyChoices answers 200 without a choice.
func EmptyChoices() Answer {
	return JSON(http.StatusOK, `{"id":"chatcmpl-llmtest","object":"chat.completion","created":1767225600,"model":"llmtest-1","choices":[]}`)
}

// Truncated announces a whole answer, sends half of it, and hangs up.
func Truncated() Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		half := `{"id":"chatcmpl-llmtest","object":"chat.completion","choices":[{"index":0,"mess`
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(2*len(half)))
		_, _ = w.Write([]byte(half))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Reset hangs up without an answer.
func Reset() Answer {
	return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
}

// Hang sends nothing until the client or the server closes the connection.
func Hang() Answer {
	return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
}

// CutAfter sends the first n frames of a streamed answer, and hangs up. An answer that is
// not streamed is sent whole.
func CutAfter(n int, text string) Answer {
	return answerWith(outcome{text: text, finish: llm.FinishStop, after: n, then: Reset()})
}

// EndAfter is CutAfter with an orderly end of the connection.
func EndAfter(n int, text string) Answer {
	return answerWith(outcome{text: text, finish: llm.FinishStop, after: n, then: func(http.ResponseWriter, *http.Request) {}})
}

// HangAfter is CutAfter, but keeps the connection open until the client or the server closes
// it.
func HangAfter(n int, text string) Answer {
	return answerWith(outcome{text: text, finish: llm.FinishStop, after: n, then: Hang()})
}

// GarbageAfter is CutAfter with an invalid event, and then an orderly end.
func GarbageAfter(n int, text string) Answer {
	return answerWith(outcome{text: text, finish: llm.FinishStop, after: n, then: frames("event: content_block_delta\ndata: {]<html>\n\n")})
}

// FailAfter is CutAfter with an error like that of FailWith as the next event.
func FailAfter(n int, text string, status int, message, kind, code string) Answer {
	told := func(w http.ResponseWriter, r *http.Request) {
		body := wireOf(r.URL.Path).refusal(&apiError{status, message, kind, "", nullStr(code)})
		frames("event: error\ndata: "+body+"\n\n")(w, r)
	}
	return answerWith(outcome{text: text, finish: llm.FinishStop, after: n, then: told})
}

// WaitAfter is CutAfter, but sends the rest when ready is closed.
func WaitAfter(n int, text string, ready <-chan struct{}) Answer {
	return answerWith(outcome{text: text, finish: llm.FinishStop, after: n, ready: ready})
}

// HangMidway sends the headers and the beginning of an answer, then hangs.
func HangMidway() Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"chatcmpl-llmtest","choices":[`))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

// When delays an answer until ready is closed, or the client or the server closes the
// connection.
func When(ready <-chan struct{}, a Answer) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-ready:
			a(w, r)
		case <-r.Context().Done():
		}
	}
}

// Slowly sends an answer's body in pieces of n bytes, each flushed separately.
func Slowly(n int, body string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for in := strings.NewReader(body); in.Len() > 0; {
			piece := make([]byte, n)
			read, _ := in.Read(piece)
			_, _ = w.Write(piece[:read])
			_ = http.NewResponseController(w).Flush()
		}
	}
}
