package openai

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"agent-stop-and-go/gateway/offers"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
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

// Fault is an error with a code of OpenAI, and the member of the request that it is about.
type Fault struct {
	Code  string
	Param string
	Err   error
}

// Error implements error.
func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the error, which has the status.
func (f *Fault) Unwrap() error { return f.Err }

// Mark puts a Fault into the body of its error.
func (e *Error) Mark(err error) {
	if f := (*Fault)(nil); errors.As(err, &f) {
		e.Error.Code, e.Error.Param = &f.Code, &f.Param
	}
}

// KindModelFailed is the kind of a turn in which the model failed. Its status is one that no client repeats by itself: of
// the message, the conversation would get another one. So it is no 5xx, which OpenAI's clients and others repeat.
const KindModelFailed contract.Kind = "model_failed"

// ModelFailed returns the error of a turn in which the model failed, which is recorded. text says why.
func ModelFailed(text string) error { return service.Errorf(KindModelFailed, "%s", text) }

// member matches the member of a request that begins the text of an error about it, such as tools[0].
var member = regexp.MustCompile(`^([a-z_]+(?:\[[0-9]+\])?(?:\.[a-z_]+(?:\[[0-9]+\])?)*): `)

// Within returns an error about a part of a request with the place of the part, such as messages[3], in its text.
func Within(place string, err error) error {
	var e *service.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", place, err)
	}
	inside := *e
	if inside.Text = place + ": " + e.Text; member.MatchString(e.Text) {
		inside.Text = place + "." + e.Text
	}
	return &inside
}

// NewError returns the body of an error with a status. Its param is the member with which the text begins.
func NewError(status int, kind contract.Kind, text string) Error {
	detail := ErrorDetail{Message: text, Type: typeOf(status)}
	if kind == offers.KindNoModel {
		model := "model"
		detail.Param = &model
	}
	if m := member.FindStringSubmatch(strings.TrimPrefix(text, request.InvalidBody)); m != nil && status < http.StatusInternalServerError {
		detail.Param = &m[1]
	}
	if kind == KindModelFailed { // nothing is wrong with the request
		detail.Type = typeOf(http.StatusInternalServerError)
	}
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
