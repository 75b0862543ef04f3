package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/oauth2"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/workflows/contract/login"
)

// failure is an answer of the provider that it will repeat.
type failure struct {
	code string // of RFC 6749 §5.2 and RFC 8693 §2.2.2
	text string // without secrets
	// own is set if the agent's own token failed, not the caller's.
	own bool
}

func (f *failure) Error() string { return f.text }

// awayError is a provider that cannot be asked now.
type awayError struct{ err error }

func (e *awayError) Error() string {
	return "the provider of tokens cannot be reached: " + e.err.Error()
}
func (e *awayError) Unwrap() error { return e.err }

// maxText bounds what is kept of a provider's words.
const maxText = 300

// explain returns the error of a request. The text of the answer may repeat what was sent, so its
// secrets are masked.
func explain(err error, m *mask.Mask) error {
	var answer *oauth2.RetrieveError
	switch {
	case !errors.As(err, &answer):
		return &awayError{errors.New(short(m.Text(err.Error())))}
	case answer.Response.StatusCode >= http.StatusInternalServerError, answer.Response.StatusCode == http.StatusTooManyRequests:
		return &awayError{fmt.Errorf("it answered %s", answer.Response.Status)}
	case answer.ErrorCode == "":
		return &failure{code: "invalid_response", text: "the provider answered " + answer.Response.Status}
	}
	text := answer.ErrorCode
	if answer.ErrorDescription != "" {
		text += ": " + answer.ErrorDescription
	}
	return &failure{code: answer.ErrorCode, text: short(m.Text(text))}
}

func short(text string) string {
	if r := []rune(text); len(r) > maxText {
		return string(r[:maxText]) + "…"
	}
	return text
}

// aboutToken reports whether the provider did not accept the caller's token or the agent's: it
// answers both in the same way.
func aboutToken(err error) bool {
	var f *failure
	return errors.As(err, &f) && slices.Contains([]string{"invalid_request", "invalid_grant", "invalid_token"}, f.code)
}

// actorFailure marks a failure of the agent's own token.
func actorFailure(err error) error {
	var f *failure
	if errors.As(err, &f) {
		return &failure{f.code, f.text, true}
	}
	return err
}

// advice says what to do about an error of the provider.
var advice = map[string]string{
	"invalid_client":         "check client_id and the agent's secret or key in token_exchange",
	"unauthorized_client":    "let the provider allow this agent token exchange",
	"unsupported_grant_type": "the provider does not know token exchange: set credential: own, or forward",
	"invalid_target":         "check exchange.audience and exchange.resource, and that the provider lets this agent ask for them",
	"invalid_scope":          "check exchange.scopes",
	"access_denied":          "the provider does not let this agent act for the caller there",
}

// forCall returns the error of a call to a server, as bearer.Source describes it.
func forCall(err error, server string) error {
	var f *failure
	switch {
	case !errors.As(err, &f), errors.Is(err, context.Canceled):
		return err
	case aboutToken(err) && !f.own:
		return &bearer.LoginRequired{Server: server, Way: login.AtAgent, Reason: "the provider does not accept the caller's token (" + f.text + ")"}
	}
	reason := "the provider refuses to issue one (" + f.text + ")"
	if f.own {
		reason = "the provider issues no token for this agent itself (" + f.text + ")"
	}
	if what := advice[f.code]; what != "" {
		reason += "; " + what
	}
	return &bearer.Refused{Server: server, Reason: reason}
}
