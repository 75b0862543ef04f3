package openai

import (
	"net/http"

	"agent-stop-and-go/workflows/contract"
)

// Error is the body of an error.
type Error struct {
	Error ErrorDetail `json:"error"`
}

// ErrorDetail says what is wrong. Type and code are OpenAI's where it has one, else the code is the
// kind of the error.
type ErrorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// NewError returns the body of an error with a status.
func NewError(status int, kind contract.Kind, text string) Error {
	detail := ErrorDetail{Message: text, Type: typeOf(status)}
	code := string(kind)
	if status == http.StatusUnauthorized {
		code = "invalid_api_key"
	}
	if code != "" {
		detail.Code = &code
	}
	return Error{detail}
}

func typeOf(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= http.StatusInternalServerError:
		return "server_error"
	}
	return "invalid_request_error"
}

// SetRetry tells OpenAI's clients not to repeat a request that would fail again. Without it they
// repeat what has the status 409.
func SetRetry(h http.Header, status int) {
	if status < http.StatusInternalServerError && status != http.StatusTooManyRequests {
		h.Set("x-should-retry", "false")
	}
}
