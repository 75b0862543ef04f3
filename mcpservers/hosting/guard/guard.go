package guard

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Rules are the accepted names of a server, and the origins that may call it. The zero value
// accepts only names of loopback. It is safe for concurrent use.
type Rules struct {
	// Hosts are additional names and addresses of the server, without port; "*" accepts any.
	Hosts []string
	// Origins are additional origins that may call, such as https://chat.example.com; "*"
	// accepts any, "null" accepts pages with an opaque origin.
	Origins []string
	// OpenNetwork accepts any Host on connections that do not come over loopback, if Hosts is
	// empty.
	OpenNetwork bool
	// HostStatus is the response status for a refused Host; 0: 421.
	HostStatus int
}

// Refusal is the reason for which a request must not be served.
type Refusal struct {
	Status int
	Text   string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// Check returns nil for an acceptable request.
func (r Rules) Check(request *http.Request) *Refusal {
	origin := request.Header.Get("Origin")
	switch {
	case !r.hostAllowed(request):
		return r.refuseHost(request.Host)
	case !r.originAllowed(request, origin):
		return &Refusal{http.StatusForbidden, fmt.Sprintf(
			"pages of %s must not call this server; allowed_origins lists those that may", quote(origin))}
	case request.Header.Get("Sec-Fetch-Site") == "cross-site" && !r.Listed(origin) && !followsLink(request):
		return &Refusal{http.StatusForbidden,
			"pages of another site must not call this server (Sec-Fetch-Site: cross-site); allowed_origins lists those that may"}
	}
	return nil
}

// Handler calls next for accepted requests, and answers the others in plain text.
func (r Rules) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if refused := r.Check(request); refused != nil {
			http.Error(w, refused.Text, refused.Status)
			return
		}
		next.ServeHTTP(w, request)
	})
}

// Listed reports whether an origin is one of Origins.
func (r Rules) Listed(origin string) bool {
	return origin != "" && slices.ContainsFunc(r.Origins, func(o string) bool { return o == "*" || strings.EqualFold(o, origin) })
}

func (r Rules) refuseHost(host string) *Refusal {
	status := r.HostStatus
	if status == 0 {
		status = http.StatusMisdirectedRequest
	}
	return &Refusal{status, fmt.Sprintf("Host %s is no name of this server; allowed_hosts lists further ones", quote(host))}
}

func (r Rules) hostAllowed(request *http.Request) bool {
	if r.OpenNetwork && len(r.Hosts) == 0 && !overLoopback(request) {
		return true
	}
	return slices.Contains(r.Hosts, "*") || r.isName(nameOf(request.Host), request)
}

// isName reports whether name is a name of the server that received the request.
func (r Rules) isName(name string, request *http.Request) bool {
	return name != "" && (isLoopback(name) || name == localAddress(request) ||
		slices.ContainsFunc(r.Hosts, func(h string) bool { return canonical(strings.Trim(h, "[]")) == name }))
}

func (r Rules) originAllowed(request *http.Request, origin string) bool {
	if origin == "" || r.Listed(origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	name := nameOf(u.Host)
	if isLoopback(name) && !overLoopback(request) {
		return strings.EqualFold(u.Host, request.Host)
	}
	return r.isName(name, request)
}

// followsLink reports whether the browser opens a page in its own window.
func followsLink(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// IsJSON reports whether a Content-Type is application/json or ends with +json. Forms and
// simple requests of a page cannot have such a type.
func IsJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	return kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
}

const maxQuoted = 100

func quote(s string) string {
	if s == "" {
		return "(none)"
	}
	if len(s) > maxQuoted {
		return fmt.Sprintf("%+q…", s[:maxQuoted])
	}
	return fmt.Sprintf("%+q", s)
}
