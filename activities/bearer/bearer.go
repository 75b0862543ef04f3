package bearer

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/credential"
)

// Server is what a token is for: an MCP server or another agent.
type Server struct {
	// Name is the name in the configuration.
	Name string
	URL  string
	// Agent reports whether it is another agent.
	Agent bool
}

// Request asks for the token of one call.
type Request struct {
	Server Server
	// Caller has the token that came with the message, and who sent it. Its Bearer is empty if
	// none came, or if it has expired.
	Caller credential.Token
	// Refusal is the answer to the token that the source gave last; nil asks for the first time.
	Refusal *Refusal
}

// Refusal is the answer of a server that accepts a token not, or not for this call.
type Refusal struct {
	// Token is the refused one, empty if there was none.
	Token credential.Token
	// Status is 401 or 403.
	Status int
	// Challenges are the WWW-Authenticate headers.
	Challenges []string
	// Again reports that the token was itself given in place of a refused one.
	Again bool
}

// RefusalOf returns the refusal of a server that answered with challenges: 401, or 403 if one of them
// asks for more scopes (RFC 6750 §3.1).
func RefusalOf(challenges []string) *Refusal {
	r := &Refusal{Status: http.StatusUnauthorized, Challenges: challenges}
	if slices.ContainsFunc(challenges, func(c string) bool { return strings.Contains(c, "insufficient_scope") }) {
		r.Status = http.StatusForbidden
	}
	return r
}

// NeedsScope reports whether the token is valid but lacks a scope (RFC 6750 §3.1).
func (r *Refusal) NeedsScope() bool { return r.Status == http.StatusForbidden }

// Source gives the tokens for the calls of servers. It is safe for concurrent use.
type Source interface {
	// Token returns the token for a call; without Bearer the call carries none. It fails with a
	// *LoginRequired, with a *Refused, or with a temporary error.
	Token(ctx context.Context, r Request) (credential.Token, error)
}

// LoginRequired is the error of a token that only a person can get.
type LoginRequired struct {
	Server string
	// Reason is for people and contains no secret.
	Reason string
	// Way is how the person gets it.
	Way login.Way
}

func (e *LoginRequired) Error() string {
	return fmt.Sprintf("%s requires a login: %s", e.Server, e.Reason)
}

// Text is the error in the words of a result.
func (e *LoginRequired) Text() string {
	return fmt.Sprintf("Authentication required to access the %s server: %s.", e.Server, e.Reason)
}

// Refused is the error of a token that nobody gets by logging in: the provider does not issue it,
// or the settings do not allow it.
type Refused struct {
	Server string
	// Reason is for people, says what to do, and contains no secret.
	Reason string
}

func (e *Refused) Error() string { return fmt.Sprintf("no token for %s: %s", e.Server, e.Reason) }
