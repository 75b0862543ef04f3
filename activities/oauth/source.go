package oauth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"agent-stop-and-go/activities/bearer"
	ways "agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/credential"
)

// Source gives the agent's own tokens for the calls of a server: one token, or one for each
// caller.
type Source struct{ Client *Client }

// Personal reports whether people get a token by logging in.
func (s Source) Personal() bool { return s.Client.server.Grant == AuthorizationCode }

// Token implements bearer.Source.
func (s Source) Token(ctx context.Context, r bearer.Request) (out credential.Token, err error) {
	if r.Refusal == nil {
		out.Bearer, err = s.Client.Token(ctx, r.Caller.Caller)
		return out, err
	}
	refusal, _ := Refused(&http.Response{StatusCode: r.Refusal.Status, Header: http.Header{"Www-Authenticate": r.Refusal.Challenges}})
	out.Bearer, err = s.Client.Renew(ctx, r.Caller.Caller, r.Refusal.Token.Bearer, refusal)
	var hopeless hopelessError
	switch {
	case errors.Is(err, ErrLogin):
		err = s.Client.loginRequired(r, refusal)
	case errors.As(err, &hopeless):
		err = &bearer.Refused{Server: r.Server.Name, Reason: hopeless.Error() + "; check own.scopes, and what the authorization server grants this agent"}
	}
	return out, err
}

// loginRequired is the error of a call that nobody has logged in for. Without a caller there is
// nobody who could.
func (c *Client) loginRequired(r bearer.Request, refusal Refusal) error {
	switch {
	case c.server.PerCaller && r.Caller.Caller == "":
		return &bearer.Refused{Server: r.Server.Name, Reason: "its tokens belong to callers, and nothing proves who called: send the message to an agent with auth, or set own.per: agent"}
	case refusal.MoreScopes && len(refusal.Scopes) > 0:
		return &bearer.LoginRequired{Server: r.Server.Name, Way: ways.AtServer, Reason: "the call needs the scopes " + quote(strings.Join(refusal.Scopes, " ")) + ", which the present login does not have"}
	case r.Refusal.Token.Bearer != "":
		return &bearer.LoginRequired{Server: r.Server.Name, Way: ways.AtServer, Reason: "it does not accept the present login any more"}
	}
	return &bearer.LoginRequired{Server: r.Server.Name, Way: ways.AtServer, Reason: "nobody has logged in to it yet"}
}
