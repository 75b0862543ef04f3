package identity

import (
	"net/http"
	"strings"
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
