package bearer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"agent-stop-and-go/workflows/credential"
)

// Forward gives the caller's own token, whoever it is for.
type Forward struct{}

// Token implements Source.
func (Forward) Token(_ context.Context, r Request) (credential.Token, error) { return r.Caller, nil }

// Guarded gives the caller's own token to one server, unless the server's metadata say that it
// accepts tokens for another audience or of another provider: MCP and OAuth forbid to pass a
// token on to whom it was not made for. A server without metadata, and a token that is no JWT, are
// not checked.
type Guarded struct {
	// Client fetches the metadata.
	Client *http.Client
	Now    func() time.Time

	mu      sync.Mutex
	known   resource
	fetched time.Time
}

// metadataAge is how long the metadata of a server are used.
const metadataAge = time.Hour

// Token implements Source.
func (g *Guarded) Token(ctx context.Context, r Request) (credential.Token, error) {
	claims, ok := claimsOf(r.Caller.Bearer)
	if !ok {
		return r.Caller, nil
	}
	meta, err := g.metadata(ctx, r.Server)
	if err != nil {
		return credential.Token{}, err
	}
	if problem := meta.problem(r.Server.URL, claims); problem != "" {
		return credential.Token{}, &Refused{r.Server.Name, problem + "; set credential: exchange or own on it, or send a token that is made for it in X-Tool-Authorization"}
	}
	return r.Caller, nil
}

func (g *Guarded) metadata(ctx context.Context, server Server) (resource, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.fetched.IsZero() && g.Now().Sub(g.fetched) < metadataAge {
		return g.known, nil
	}
	meta, err := fetchResource(ctx, g.Client, server.URL)
	if err != nil {
		return resource{}, fmt.Errorf("read the metadata of %s: %w", server.Name, err)
	}
	g.known, g.fetched = meta, g.Now()
	return meta, nil
}

// problem says why a token must not be passed on, or returns "".
func (r resource) problem(server string, c claims) string {
	same := func(a string) func(string) bool {
		return func(b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }
	}
	switch {
	case r.Resource != "" && len(c.Audience) > 0 && !slices.ContainsFunc(c.Audience, same(r.Resource)) && !slices.ContainsFunc(c.Audience, same(server)):
		return fmt.Sprintf("it accepts tokens for %q, and the caller's is for %q", r.Resource, strings.Join(c.Audience, " "))
	case len(r.Servers) > 0 && c.Issuer != "" && !slices.ContainsFunc(r.Servers, same(c.Issuer)):
		return fmt.Sprintf("it accepts tokens of %q, and the caller's is of %q", strings.Join(r.Servers, " "), c.Issuer)
	}
	return ""
}

// claims are what a token says of itself. Nobody has checked them here.
type claims struct {
	Issuer   string   `json:"iss"`
	Audience audience `json:"aud"`
}

// audience is a text or a list of texts (RFC 7519 §4.1.3).
type audience []string

// UnmarshalJSON implements json.Unmarshaler.
func (a *audience) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(a))
}

// claimsOf returns the claims of a JSON Web Token.
func claimsOf(token string) (c claims, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	return c, err == nil && json.Unmarshal(payload, &c) == nil
}
