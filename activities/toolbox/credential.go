package toolbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/mark3labs/mcp-go/client/transport"

	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/activities/oauth"
)

// Credential has the tokens of the agent's own for a server. oauth.Client implements it.
type Credential interface {
	// Token returns the present token of a subject, or "". The agent is the subject "".
	Token(ctx context.Context, subject string) (string, error)
	// Renew returns another token after the server has refused one. It fails with oauth.ErrLogin
	// if a person must log in.
	Renew(ctx context.Context, subject, refused string, r oauth.Refusal) (string, error)
	// Secrets returns what is to be masked in the server's answers.
	Secrets(subject string) []string
}

// maxRenewals bounds the tokens that one request is sent with after the first: one for a token
// that is no longer valid, and one for more scopes.
const maxRenewals = 2

// send sends a request, with a token of the agent's own if the server has a Credential. A refusal
// of the token says that the request was not carried out, so it is sent again with another one.
// ctx is that of the request without its traces, body returns the request's body again.
func (t *watchedTransport) send(ctx context.Context, way http.RoundTripper, req *http.Request, body func() (io.ReadCloser, error)) (*http.Response, error) {
	if t.credential == nil {
		return way.RoundTrip(req)
	}
	token, err := t.credential.Token(ctx, "")
	if err != nil {
		return nil, err
	}
	for renewals := 0; ; renewals++ {
		resp, err := way.RoundTrip(withToken(req, token))
		if err != nil {
			return nil, err
		}
		refusal, refused := oauth.Refused(resp)
		if !refused || renewals == maxRenewals || req.Body != nil && body == nil {
			return resp, nil
		}
		x := traceOf(ctx)
		x.recordUnsent()
		if token, err = t.credential.Renew(ctx, "", token, refusal); err != nil {
			x.recordDenial(err)
			return resp, nil
		}
		discard(resp)
		if req.Body != nil {
			if req.Body, err = body(); err != nil {
				return nil, err
			}
		}
	}
}

// withToken returns a copy of a request with the agent's token instead of the caller's.
func withToken(req *http.Request, token string) *http.Request {
	req = req.Clone(req.Context())
	req.Header.Del("Authorization")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req
}

// discard ends a response, so that its connection can be used again.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10)
	resp.Body.Close()
}

// recordUnsent records that the request as sent so far was refused. x may be nil.
func (x *trace) recordUnsent() {
	if x != nil {
		x.sent.Store(false)
	}
}

// recordDenial records why the agent has no token that the server accepts. x may be nil.
func (x *trace) recordDenial(err error) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.denial = err
}

// denied returns why the agent has no token that the server accepts, or nil.
func (x *trace) denied() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.denial == nil:
		return nil
	case errors.Is(x.denial, oauth.ErrLogin):
		return transport.ErrAuthorizationRequired
	}
	return fmt.Errorf("the agent has no access: %w", x.denial)
}

// secretsOf returns the secrets of a credential, which may be nil.
func secretsOf(c Credential) []mask.Secret {
	if c == nil {
		return nil
	}
	var out []mask.Secret
	for _, secret := range c.Secrets("") {
		out = append(out, mask.Value(secret))
	}
	return out
}
