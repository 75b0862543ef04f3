package identity

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

const (
	providerTimeout = 10 * time.Second
	// discoveryPause is the time between two attempts to reach a provider.
	discoveryPause = time.Second
)

// provider is what a provider says of itself (OpenID Connect Discovery 1.0 §3).
type provider struct {
	endpoints Endpoints
	keys      *keySet
}

// Endpoints are the addresses of a provider, "" for those that it does not have.
type Endpoints struct {
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Device        string   `json:"device_authorization_endpoint"`
	EndSession    string   `json:"end_session_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	Scopes        []string `json:"scopes_supported"`
	// NamesIssuer means that the provider says who it is when it sends a browser back
	// (RFC 9207).
	NamesIssuer bool `json:"authorization_response_iss_parameter_supported"`
}

// Offers reports whether the provider lists a scope.
func (e Endpoints) Offers(scope string) bool { return slices.Contains(e.Scopes, scope) }

// Endpoints returns the addresses of the provider, or an *Unavailable.
func (o *OIDC) Endpoints(ctx context.Context) (Endpoints, error) {
	p, err := o.provider(ctx)
	if err != nil {
		return Endpoints{}, &Unavailable{"the provider cannot be reached", err}
	}
	return p.endpoints, nil
}

// VerifyLogin returns what an ID token for a client proves, and when it ends. The nonce is that of
// the login; "" if it was refreshed.
func (o *OIDC) VerifyLogin(ctx context.Context, token, clientID, nonce string) (Proof, time.Time, error) {
	claims, err := o.verify(ctx, token, clientID)
	if err != nil {
		return Proof{}, time.Time{}, err
	}
	if nonce != "" && claims["nonce"] != nonce {
		return Proof{}, time.Time{}, refusef("the token belongs to another login")
	}
	ends, _ := claims["exp"].(float64)
	proof, err := o.proof(claims)
	return proof, time.Unix(int64(ends), 0), err
}

// provider asks the provider until it was reached once, but not all the time.
func (o *OIDC) provider(ctx context.Context) (*provider, error) {
	if found, recent, err := o.last(); recent {
		return found, err
	}
	done := o.flight.DoChan("", func() (any, error) {
		if found, recent, err := o.last(); recent {
			return found, err
		}
		found, err := o.discover(context.WithoutCancel(ctx))
		o.keep(found, err)
		return found, err
	})
	select {
	case result := <-done:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(*provider), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (o *OIDC) last() (found *provider, recent bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.found, o.found != nil || o.Now().Sub(o.tried) < discoveryPause, o.err
}

func (o *OIDC) keep(found *provider, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.found, o.err, o.tried = found, err, o.Now()
}

// discover asks the provider for its configuration (OpenID Connect Discovery 1.0 §4).
func (o *OIDC) discover(ctx context.Context) (*provider, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, o.Client), providerTimeout)
	defer cancel()
	answer, err := oidc.NewProvider(ctx, o.Issuer)
	if err != nil {
		return nil, err
	}
	var keys struct {
		URL string `json:"jwks_uri"`
	}
	found := &provider{}
	if err := errors.Join(answer.Claims(&keys), answer.Claims(&found.endpoints)); err != nil {
		return nil, err
	}
	if keys.URL == "" {
		return nil, errors.New("the provider names no jwks_uri")
	}
	found.keys = &keySet{url: keys.URL, client: o.Client, now: o.Now}
	return found, nil
}

// verifier verifies tokens for an audience.
func (p *provider) verifier(o *OIDC, audience string) *oidc.IDTokenVerifier {
	var names []string
	for _, algorithm := range algorithms {
		names = append(names, string(algorithm))
	}
	return oidc.NewVerifier(o.Issuer, p.keys, &oidc.Config{
		ClientID:             audience,
		SupportedSigningAlgs: names,
		Now:                  func() time.Time { return o.Now().Add(-o.ClockSkew) },
	})
}
