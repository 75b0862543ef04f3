package llm

import (
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// failure is the content of an error body.
type failure struct{ message, code, class string }

// FailureType returns the error type that an error body names, or "".
func FailureType(body []byte) string { return parseFailure(body).class }

// parseFailure reads an error body in any of the forms that providers have:
// {"error":{"message","type","code"}} (OpenAI, Anthropic, OpenRouter), the same
// in a list (Google), {"error":"text"} (Ollama), {"message","type","code"} and
// {"detail":…} (Mistral). For anything else the message is empty: the body may be an HTML
// page, or an echo of the request.
func parseFailure(body []byte) failure {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return failure{}
	}
	return failureIn(v)
}

func failureIn(v any) failure {
	switch v := v.(type) {
	case string:
		return failure{message: v}
	case []any:
		if len(v) > 0 {
			return failureIn(v[0])
		}
	case map[string]any:
		return failureOf(v)
	}
	return failure{}
}

func failureOf(m map[string]any) failure {
	for _, wrapper := range []string{"error", "detail"} {
		if inner, ok := m[wrapper]; ok && inner != nil {
			return failureIn(inner)
		}
	}
	f := failure{code: word(m["code"]), class: word(m["type"])}
	if f.class == "" {
		f.class = word(m["status"])
	}
	switch text := m["message"].(type) {
	case string:
		f.message = text
	case nil:
		f.message, _ = m["msg"].(string)
	default:
		f.message = failureIn(text).message
	}
	return f
}

// statusWords are words in failures without a status, in order of precedence.
var statusWords = []struct {
	words  *regexp.Regexp
	status int
}{
	{tooLong, http.StatusRequestEntityTooLarge},
	{regexp.MustCompile(`(?i)rate_?limit|too_?many_?requests|resource_?exhausted|throttl|quota`), http.StatusTooManyRequests},
	{regexp.MustCompile(`(?i)overloaded|unavailable`), http.StatusServiceUnavailable},
	{regexp.MustCompile(`(?i)authentication|unauthenticated|unauthorized|invalid_api_key`), http.StatusUnauthorized},
	{regexp.MustCompile(`(?i)billing|payment|insufficient_(funds|credits)`), http.StatusPaymentRequired},
	{regexp.MustCompile(`(?i)permission|forbidden`), http.StatusForbidden},
	{regexp.MustCompile(`(?i)not_?found`), http.StatusNotFound},
	{regexp.MustCompile(`(?i)bad_?request|invalid`), http.StatusBadRequest},
}

// statusOf derives a status for a failure without one.
func statusOf(f failure) int {
	if tooLong.MatchString(f.message) {
		return http.StatusRequestEntityTooLarge
	}
	for _, s := range statusWords {
		if s.words.MatchString(f.code + " " + f.class) {
			return s.status
		}
	}
	return http.StatusInternalServerError
}

func word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// retryAfter returns how long the provider asks to wait: retry-after-ms, or Retry-After in
// seconds or as a date.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return Wait(ms / 1000)
	}
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return Wait(seconds)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// Wait converts a wait that a provider asked for; it is at most a day.
func Wait(seconds float64) time.Duration {
	if math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	const longest = 24 * time.Hour
	if seconds > longest.Seconds() {
		return longest
	}
	return time.Duration(seconds * float64(time.Second))
}
