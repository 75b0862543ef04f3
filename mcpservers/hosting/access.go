package hosting

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/mcpservers/hosting/guard"
)

// guardRules returns the names and origins that are accepted. Servers on a network are called
// by the names of containers and machines, so all names are accepted until some are configured.
func guardRules(options Options) guard.Rules {
	return guard.Rules{
		Hosts: options.AllowedHosts, Origins: options.AllowedOrigins,
		OpenNetwork: true, HostStatus: http.StatusForbidden, // the status that MCP clients and test suites expect
	}
}

// authenticate requires the bearer token, if there is one. CORS preflights are exempt, because
// they cannot carry it and only return the CORS rules.
func authenticate(options Options, next http.Handler) http.Handler {
	if options.Token == "" {
		return next
	}
	want := sha256.Sum256([]byte(options.Token)) // hashes have equal lengths, so the comparison takes constant time
	challenge := fmt.Sprintf("Bearer realm=%q", options.Name)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(token)))
		if strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1 || isPreflight(r) {
			next.ServeHTTP(w, r)
			return
		}
		shown := challenge
		if scheme != "" {
			shown += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", shown)
		http.Error(w, "Unauthorized: send the bearer token of this server", http.StatusUnauthorized)
	})
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// cors allows the pages of allowed origins to read the responses.
func cors(options Options) []server.CORSOption {
	return []server.CORSOption{
		server.WithCORSAllowedOrigins(options.AllowedOrigins...),
		server.WithCORSAllowedHeaders("Authorization", "Content-Type", "Last-Event-ID", "X-Session-ID",
			server.HeaderKeySessionID, mcp.HeaderProtocolVersion, mcp.HeaderMethod, mcp.HeaderName),
	}
}
