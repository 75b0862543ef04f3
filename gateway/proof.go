package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/workflows/contract"
)

// defaultProofInterval is how often the proof of a caller with an open stream is checked.
const defaultProofInterval = 5 * time.Second

// prove returns who sends a request, or an error of package identity. Keys and tokens that do not
// hold are limited. Nobody tries out cookies, which are sealed, or the names of a proxy.
func (g *Gateway) prove(r *http.Request) (caller contract.Identity, err error) {
	if r.Header.Get("Authorization") == "" {
		return g.callers.Identify(r)
	}
	err = g.attempts.Check(r, identity.ClaimOf(r), func() (err error) {
		caller, err = g.callers.Identify(r)
		return err
	})
	return caller, err
}

// follow ends the stream of a caller whose proof ends while it is open: a token that expires, a
// key that is revoked, a session that is logged out. Requests that wait for an answer have a
// deadline, and are not interrupted.
func (g *Gateway) follow(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		call := callOf(c)
		if !call.Caller.Authenticated() {
			return next(c)
		}
		client, end := context.WithCancel(call.Client)
		defer end()
		call.Client = client
		defer g.checkProof(c.Request().WithContext(client), call.Caller.Identity, end).Stop()
		return next(c)
	}
}

// checkProof calls end as soon as a request does not prove any more that this caller sends it.
// It checks that from time to time until the context of the request ends.
func (g *Gateway) checkProof(r *http.Request, caller contract.Identity, end func()) *time.Timer {
	return time.AfterFunc(g.proofInterval, func() {
		switch {
		case r.Context().Err() != nil:
		case g.stillProves(r, caller):
			g.checkProof(r, caller, end)
		default:
			end()
		}
	})
}

// stillProves reports whether a request proves its caller with the scopes it had. While that
// cannot be checked it does.
func (g *Gateway) stillProves(r *http.Request, before contract.Identity) bool {
	now, err := g.callers.Identify(r)
	if err != nil {
		return errors.As(err, new(*identity.Unavailable))
	}
	for _, scope := range before.Scopes {
		if !now.Has(scope) {
			return false
		}
	}
	return now.Key() == before.Key()
}
