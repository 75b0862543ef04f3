package llm

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// fail turns whatever ended a call into an Error without secrets.
func (e endpoint) fail(err error) *Error {
	secrets := newScrubber(e.key, e.baseURL)
	var status *statusError
	var broken transportError
	switch {
	case errors.As(err, &status):
		return e.refused(status)
	case errors.Is(err, errTooLarge):
		return e.garbage(errTooLarge.Error())
	case errors.As(err, &broken):
		return &Error{
			Kind:    contract.KindModelUnavailable,
			Message: oneLine(fmt.Sprintf("%s cannot be reached: %s", e.provider.name, secrets.clean(withoutURL(broken)))),
			Err:     secrets.safe(innermost(broken)),
		}
	}
	return e.garbage("the answer is not what its API describes")
}

func (e endpoint) garbage(why string) *Error {
	return &Error{
		Kind:    contract.KindModelGarbage,
		Message: fmt.Sprintf("%s gave an answer that makes no sense: %s", e.provider.name, why),
	}
}

// refused is an answer with a status that says no.
func (e endpoint) refused(s *statusError) *Error {
	f := parseFailure(s.body)
	kind := kindOf(s.status, f)
	said := newScrubber(e.key, e.baseURL).clean(f.message)
	text := cmp.Or(said, http.StatusText(s.status), "no reason given")
	if hint := e.hint(s.status, kind, text); hint != "" {
		text = cut(text, maxMessage/2) + " (" + hint + ")"
	}
	failed := &Error{Kind: kind, Message: oneLine(fmt.Sprintf("%s API error (%d): %s", e.provider.name, s.status, text))}
	if !kind.Permanent() {
		failed.RetryAfter = retryAfter(s.header)
	}
	return failed
}

// hint adds what the provider's own words tend to leave out.
func (e endpoint) hint(status int, kind contract.Kind, text string) string {
	switch {
	case kind == contract.KindModelAuth && status != http.StatusTooManyRequests && e.provider.keyVar != "":
		return "check " + e.provider.keyVar
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

// kindOf classifies a failure by its status, and by its words where one status
// stands for several things.
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

// innermost is the cause that other errors were wrapped around. It holds neither
// addresses nor headers.
func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}
