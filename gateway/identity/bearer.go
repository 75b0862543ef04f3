package identity

import (
	"net/http"
	"strings"

	"agent-stop-and-go/gateway/identity/keys"
)

// bearer returns the bearer token of a request, or "". A request with several Authorization
// headers has none: a proxy and the agent could read different ones.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, ok := strings.Cut(strings.TrimSpace(values[0]), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// Claim is what a request shows, which nothing proves yet.
type Claim struct {
	// Secret is the whole key or token; "" if the request shows none.
	Secret string
	// Name is whom it is about: the visible part of a key, or issuer and subject of a token. It is ""
	// if nobody can say that.
	Name string
}

// ClaimOf returns what the bearer token of a request claims.
func ClaimOf(r *http.Request) Claim {
	token := bearer(r)
	if strings.HasPrefix(token, keys.Prefix) {
		return ClaimOfKey(token)
	}
	c, claims := Claim{Secret: token}, claimsOf(token)
	if claims.Issuer != "" && claims.Subject != "" {
		c.Name = claims.Issuer + " " + claims.Subject
	}
	return c
}

// ClaimOfKey returns what the text of a key claims.
func ClaimOfKey(text string) Claim { return Claim{Secret: text, Name: keys.StubOf(text).ID} }
