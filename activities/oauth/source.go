package oauth

import (
	"context"
	"errors"
	"net/http"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/workflows/credential"
)

// Source gives the agent's own tokens for the calls of a server.
type Source struct{ Client *Client }

// Token implements bearer.Source.
func (s Source) Token(ctx context.Context, r bearer.Request) (out credential.Token, err error) {
	if r.Refusal == nil {
		out.Bearer, err = s.Client.Token(ctx, "")
		return out, err
	}
	refusal, _ := Refused(&http.Response{StatusCode: r.Refusal.Status, Header: http.Header{"Www-Authenticate": r.Refusal.Challenges}})
	out.Bearer, err = s.Client.Renew(ctx, "", r.Refusal.Token.Bearer, refusal)
	if errors.Is(err, ErrLogin) {
		err = &bearer.LoginRequired{Server: r.Server.Name, Reason: "the agent has no token for it"}
	}
	return out, err
}
