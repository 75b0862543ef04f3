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

// Claim returns whom the bearer token of a request is about, which nothing proves yet: the visible
// part of a key, or issuer and subject of a token. It is "" if nobody can say that.
func Claim(r *http.Request) string {
	token := bearer(r)
	if strings.HasPrefix(token, keys.Prefix) {
		return keys.StubOf(token).ID
	}
	claims := claimsOf(token)
	if claims.Issuer == "" || claims.Subject == "" {
		return ""
	}
	return claims.Issuer + " " + claims.Subject
}
