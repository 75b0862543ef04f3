package hosting

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// guard refuses requests for names this server is not called by, and requests
// of web pages that nobody allowed.
func guard(options Options, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !hostAllowed(options.AllowedHosts, r):
			http.Error(w, fmt.Sprintf("Forbidden: invalid Host header %q", r.Host), http.StatusForbidden)
		case !originAllowed(options.AllowedOrigins, r.Header.Get("Origin")):
			http.Error(w, fmt.Sprintf("Forbidden: invalid Origin header %q", r.Header.Get("Origin")), http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func hostAllowed(allowed []string, r *http.Request) bool {
	host := hostName(r.Host)
	if isLoopback(host) || slices.Contains(allowed, "*") {
		return true
	}
	if slices.ContainsFunc(allowed, func(name string) bool { return sameHost(strings.Trim(name, "[]"), host) }) {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return len(allowed) == 0 && ok && !isLoopback(hostName(local.String()))
}

// sameHost compares addresses by value: IPv6 can be written in many ways.
func sameHost(a, b string) bool {
	left, err := netip.ParseAddr(a)
	right, problem := netip.ParseAddr(b)
	if err == nil && problem == nil {
		return left == right
	}
	return strings.EqualFold(a, b)
}

func originAllowed(allowed []string, origin string) bool {
	if origin == "" || slices.Contains(allowed, "*") {
		return true
	}
	if slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && isLoopback(u.Hostname())
}

// hostName takes the port and the brackets of IPv6 off.
func hostName(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// authenticate asks for the bearer token, if there is one. CORS preflights
// cannot carry it and learn nothing but the rules.
func authenticate(options Options, next http.Handler) http.Handler {
	if options.Token == "" {
		return next
	}
	want := sha256.Sum256([]byte(options.Token)) // equal lengths, so comparing takes equal time
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

// cors lets the pages of allowed origins read the answers.
func cors(options Options) []server.CORSOption {
	return []server.CORSOption{
		server.WithCORSAllowedOrigins(options.AllowedOrigins...),
		server.WithCORSAllowedHeaders("Authorization", "Content-Type", "Last-Event-ID", "X-Session-ID",
			server.HeaderKeySessionID, mcp.HeaderProtocolVersion, mcp.HeaderMethod, mcp.HeaderName),
	}
}
