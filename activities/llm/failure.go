package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Fail converts the error of a call to an Error without secrets.
func (e Endpoint) Fail(err error) *Error {
	secrets := e.mask()
	var status *StatusError
	var broken transportError
	switch {
	case errors.As(err, &status):
		return e.refused(status)
	case errors.Is(err, ErrTooLarge):
		return e.Garbage(ErrTooLarge.Error())
	case errors.As(err, &broken):
		what := "cannot be reached"
		if off := (truncatedError{}); errors.As(err, &off) {
			what = "broke off its answer"
		}
		return &Error{
			Kind:    contract.KindModelUnavailable,
			Message: OneLine(fmt.Sprintf("%s %s: %s", e.Provider, what, maskedText(secrets, withoutURL(broken)))),
			Err:     shownCause(secrets, innermost(broken)),
		}
	}
	return e.Garbage("the answer is not what its API describes")
}

// Garbage returns the error of an invalid answer.
func (e Endpoint) Garbage(why string) *Error {
	return &Error{
		Kind:    contract.KindModelGarbage,
		Message: fmt.Sprintf("%s gave an answer that makes no sense: %s", e.Provider, why),
	}
}

// EndedEarly returns the error of a stream that ended too early.
func (e Endpoint) EndedEarly() *Error {
	return &Error{Kind: contract.KindModelUnavailable, Message: fmt.Sprintf("%s broke off its answer", e.Provider)}
}

// refused returns the error of an answer with a failure status.
func (e Endpoint) refused(s *StatusError) *Error {
	failed := e.failed(s.Status, strconv.Itoa(s.Status), s.Body)
	if !failed.Kind.Permanent() {
		failed.RetryAfter = retryAfter(s.Header)
	}
	return failed
}

// Reported returns the error of a failure in an answer with status 200, classified by the
// status that its body names or suggests.
func (e Endpoint) Reported(body []byte) *Error {
	f := parseFailure(body)
	if status, err := strconv.Atoi(f.code); err == nil && status >= 400 && status < 600 {
		return e.failed(status, f.code, body)
	}
	return e.failed(statusOf(f), "in its answer", body)
}

// failed converts an error body to an Error; shown is the status in its message.
func (e Endpoint) failed(status int, shown string, body []byte) *Error {
	f := parseFailure(body)
	kind := kindOf(status, f)
	said := maskedText(e.mask(), f.message)
	text := cmp.Or(said, http.StatusText(status), "no reason given")
	if hint := e.hint(status, kind, text); hint != "" {
		text = Cut(text, maxMessage/2) + " (" + hint + ")"
	}
	return &Error{Kind: kind, Message: OneLine(fmt.Sprintf("%s API error (%s): %s", e.Provider, shown, text))}
}

// hint adds advice that the provider's message usually lacks.
func (e Endpoint) hint(status int, kind contract.Kind, text string) string {
	switch {
	case kind == contract.KindModelAuth && status != http.StatusTooManyRequests && e.KeyVariable != "":
		return "check " + e.KeyVariable
	case status == http.StatusNotFound && !strings.Contains(text, e.Model):
		return "model " + e.Model
	}
	return ""
}

var (
	tooLong = regexp.MustCompile(`(?i)context[_ ](length|window|limit)|prompt is too long|input is too long|` +
		`(input )?token count.*exceeds|too many (input )?tokens|too large for model|maximum number of tokens|request_too_large`)
	badKey = regexp.MustCompile(`(?i)api[_ ]key[_ ](not valid|invalid)|invalid[_ ]api[_ ]key|credit balance is too low`)
	noFund = regexp.MustCompile(`(?i)insufficient_quota|billing_not_active|billing_hard_limit`)
)

// kindOf classifies a failure by its status, and by its text if a status has several meanings.
func kindOf(status int, f failure) contract.Kind {
	said := f.code + " " + f.class + " " + f.message
	switch {
	case status == http.StatusTooManyRequests && noFund.MatchString(f.code+" "+f.class):
		return contract.KindModelAuth
	case status == http.StatusTooManyRequests:
		return contract.KindModelRateLimited
	case status == 401, status == 402, status == 403, status == 400 && badKey.MatchString(said):
		return contract.KindModelAuth
	case status == 413, (status == 400 || status == 422) && tooLong.MatchString(said):
		return contract.KindModelContext
	case status == 408, status == 409, status == 425, status >= 500:
		return contract.KindModelUnavailable
	case status >= 400:
		return contract.KindModelRequest
	}
	return contract.KindModelGarbage
}

func withoutURL(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return err.Error()
}

// innermost returns the innermost cause, which contains neither addresses nor headers.
func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}
