package identity

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/sync/singleflight"

	"agent-stop-and-go/workflows/contract"
)

// OIDCSettings describe an OpenID provider and its tokens.
type OIDCSettings struct {
	Issuer, Audience          string
	SubjectClaim, GroupsClaim string
	// ScopesFromToken adds the scopes of the token's scope or scp claim.
	ScopesFromToken bool
	// ClockSkew is how far the clocks may differ.
	ClockSkew time.Duration
	Grants    Grants
	// Client reaches the provider. Nil: one with a timeout.
	Client *http.Client
	// Now is the clock, nil: the system's.
	Now func() time.Time
}

// OIDC are the callers with a token of an OpenID provider.
type OIDC struct {
	OIDCSettings
	flight singleflight.Group

	mu    sync.Mutex
	found *provider // nil until the provider was reached
	tried time.Time
	err   error
}

// NewOIDC returns a way that asks the provider when the first token comes, so an agent can
// start while its provider is away.
func NewOIDC(s OIDCSettings) *OIDC {
	if s.Client == nil {
		s.Client = &http.Client{Timeout: providerTimeout}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return &OIDC{OIDCSettings: s}
}

// Shown implements Way: a token that names this issuer.
func (o *OIDC) Shown(r *http.Request) bool { return claimsOf(bearer(r)).Issuer == o.Issuer }

// Token returns the bearer token of a request, for Ways.Token.
func (o *OIDC) Token(r *http.Request) string { return bearer(r) }

// tokenClaims are what a JSON Web Token claims, without a check.
type tokenClaims struct {
	Issuer  string `json:"iss"`
	Subject string `json:"sub"`
}

// claimsOf returns the claims of a token. Those that it does not have, or not as texts, are "".
func claimsOf(token string) (c tokenClaims) {
	if parts := strings.Split(token, "."); len(parts) == 3 {
		payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
		_ = json.Unmarshal(payload, &c)
	}
	return c
}

// Identify implements Way.
func (o *OIDC) Identify(r *http.Request) (contract.Identity, error) {
	claims, err := o.verify(r.Context(), bearer(r), o.Audience)
	if err != nil {
		return contract.Identity{}, err
	}
	proof, err := o.proof(claims)
	if err != nil {
		return contract.Identity{}, err
	}
	return o.Caller(proof), nil
}

// verify returns the claims of a token for an audience, a *Refused or an *Unavailable.
func (o *OIDC) verify(ctx context.Context, token, audience string) (map[string]any, error) {
	p, err := o.provider(ctx)
	if err != nil {
		return nil, &Unavailable{"the provider of the token cannot be reached", err}
	}
	var failure error
	verified, err := p.verifier(o, audience).Verify(context.WithValue(ctx, failureKey{}, &failure), token)
	if err != nil {
		return nil, explain(err, failure)
	}
	var claims map[string]any
	if err := verified.Claims(&claims); err != nil {
		return nil, refusef("the claims of the token cannot be read")
	}
	return claims, nil
}

// explain returns the error for a token that does not verify. The texts of go-oidc may have
// parts of the token.
func explain(err, failure error) error {
	var expired *oidc.TokenExpiredError
	var away *Unavailable
	switch {
	case errors.As(failure, &away):
		return away
	case errors.Is(failure, errNoKey):
		return refusef("the signature of the token is not valid")
	case errors.As(err, &expired):
		return refusef("the token expired at %s", expired.Expiry.UTC().Format(time.RFC3339))
	case strings.Contains(err.Error(), "audience"):
		return refusef("the token is not for this agent: its audience is another one")
	}
	return refusef("the token is not valid")
}

// Proof is what a token proves of its caller. What the caller may do is decided by the grants of
// the moment.
type Proof struct {
	Subject string   `json:"sub"`
	Groups  []string `json:"groups,omitempty"`
	// Scopes are those that the provider gave to the token.
	Scopes []string `json:"scopes,omitempty"`
}

// Caller returns the caller of whom a token of this provider proves something.
func (o *OIDC) Caller(p Proof) contract.Identity {
	var asked []string
	if o.ScopesFromToken {
		asked = p.Scopes
	}
	return o.Grants.apply(contract.Identity{Subject: p.Subject, Issuer: o.Issuer}, p.Groups, asked)
}

// Condense leaves out of a proof what no rule asks for, so that it fits into a cookie.
func (o *OIDC) Condense(p Proof) Proof {
	p.Groups = o.Grants.fewer(p.Groups)
	known := slices.DeleteFunc(p.Scopes, func(scope string) bool { return !slices.Contains(contract.Scopes(), scope) })
	slices.Sort(known)
	p.Scopes = slices.Compact(known)
	return p
}

func (o *OIDC) proof(claims map[string]any) (Proof, error) {
	if before, ok := claims["nbf"].(float64); ok && o.Now().Add(o.ClockSkew).Unix() < int64(before) {
		return Proof{}, refusef("the token is not valid yet")
	}
	subject, _ := claims[o.SubjectClaim].(string)
	if subject == "" {
		return Proof{}, refusef("the token has no %s, which names the caller", o.SubjectClaim)
	}
	if verified := claims["email_verified"]; o.SubjectClaim == "email" && verified != true && verified != "true" {
		return Proof{}, refusef("the provider has not verified the email of the token, so it names nobody")
	}
	var scopes []string
	for _, name := range []string{"scope", "scp"} {
		for _, text := range texts(claims[name]) {
			scopes = append(scopes, strings.Fields(text)...)
		}
	}
	return Proof{subject, texts(claims[o.GroupsClaim]), scopes}, nil
}

// texts returns a claim that is a text or a list of texts.
func texts(claim any) []string {
	switch v := claim.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, item := range v {
			if s, ok := item.(string); ok && s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

func (o *OIDC) String() string { return "a token of " + o.Issuer + ", as Authorization: Bearer" }
