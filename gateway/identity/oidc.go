package identity

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
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

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier // nil until the provider was reached
	tried    time.Time
	err      error
}

const providerTimeout = 10 * time.Second

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
func (o *OIDC) Shown(r *http.Request) bool { return issuerOf(bearer(r)) == o.Issuer }

// Token returns the bearer token of a request, for Ways.Token.
func (o *OIDC) Token(r *http.Request) string { return bearer(r) }

// issuerOf returns what a JSON Web Token claims as its issuer, or "".
func issuerOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return ""
	}
	return claims.Issuer
}

// Identify implements Way.
func (o *OIDC) Identify(r *http.Request) (contract.Identity, error) {
	verifier, err := o.provider(r.Context())
	if err != nil {
		return contract.Identity{}, &Unavailable{"the provider of the token cannot be reached", err}
	}
	var failure error
	token, err := verifier.Verify(context.WithValue(r.Context(), failureKey{}, &failure), bearer(r))
	if err != nil {
		return contract.Identity{}, explain(err, failure)
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return contract.Identity{}, refusef("the claims of the token cannot be read")
	}
	return o.caller(claims)
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

func (o *OIDC) caller(claims map[string]any) (contract.Identity, error) {
	if before, ok := claims["nbf"].(float64); ok && o.Now().Add(o.ClockSkew).Unix() < int64(before) {
		return contract.Identity{}, refusef("the token is not valid yet")
	}
	subject, _ := claims[o.SubjectClaim].(string)
	if subject == "" {
		return contract.Identity{}, refusef("the token has no %s, which names the caller", o.SubjectClaim)
	}
	if verified := claims["email_verified"]; o.SubjectClaim == "email" && verified != true && verified != "true" {
		return contract.Identity{}, refusef("the provider has not verified the email of the token, so it names nobody")
	}
	var asked []string
	if o.ScopesFromToken {
		for _, name := range []string{"scope", "scp"} {
			for _, text := range texts(claims[name]) {
				asked = append(asked, strings.Fields(text)...)
			}
		}
	}
	return o.Grants.apply(contract.Identity{Subject: subject, Issuer: o.Issuer}, texts(claims[o.GroupsClaim]), asked), nil
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

// provider returns the verifier of the provider's tokens. It asks the provider until it was
// reached once, but not all the time.
func (o *OIDC) provider(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	if verifier, recent, err := o.last(); recent {
		return verifier, err
	}
	done := o.flight.DoChan("", func() (any, error) {
		if verifier, recent, err := o.last(); recent {
			return verifier, err
		}
		verifier, err := o.discover(context.WithoutCancel(ctx))
		o.keep(verifier, err)
		return verifier, err
	})
	select {
	case result := <-done:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(*oidc.IDTokenVerifier), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

const discoveryPause = time.Second

func (o *OIDC) last() (verifier *oidc.IDTokenVerifier, recent bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.verifier, o.verifier != nil || o.Now().Sub(o.tried) < discoveryPause, o.err
}

func (o *OIDC) keep(verifier *oidc.IDTokenVerifier, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.verifier, o.err, o.tried = verifier, err, o.Now()
}

// discover asks the provider for its configuration (OpenID Connect Discovery 1.0 §4).
func (o *OIDC) discover(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, o.Client), providerTimeout)
	defer cancel()
	provider, err := oidc.NewProvider(ctx, o.Issuer)
	if err != nil {
		return nil, err
	}
	var found struct {
		KeysURL string `json:"jwks_uri"`
	}
	if err := provider.Claims(&found); err != nil {
		return nil, err
	}
	if found.KeysURL == "" {
		return nil, errors.New("the provider names no jwks_uri")
	}
	var names []string
	for _, algorithm := range algorithms {
		names = append(names, string(algorithm))
	}
	return oidc.NewVerifier(o.Issuer, &keySet{url: found.KeysURL, client: o.Client, now: o.Now}, &oidc.Config{
		ClientID:             o.Audience,
		SupportedSigningAlgs: names,
		Now:                  func() time.Time { return o.Now().Add(-o.ClockSkew) },
	}), nil
}

func (o *OIDC) String() string { return "a token of " + o.Issuer + ", as Authorization: Bearer" }
