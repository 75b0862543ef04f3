package request

import (
	"net/http"
	"net/url"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Tidy returns a request with its path in the form of the routes: without a slash at the end,
// and with UUIDs in lower case. It does not redirect, because a redirect would lose the body
// of a POST.
func Tidy(r *http.Request) *http.Request {
	path := tidyPath(r.URL.Path)
	if path == r.URL.Path {
		return r
	}
	out, u := new(http.Request), new(url.URL)
	*out, *u = *r, *r.URL
	u.Path, u.RawPath = path, tidyPath(r.URL.RawPath)
	out.URL = u
	return out
}

func tidyPath(path string) string {
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = TidyUUID(part)
	}
	return strings.Join(parts, "/")
}

// TidyUUID returns a UUID in lower case, and any other text unchanged.
func TidyUUID(s string) string {
	if lower := strings.ToLower(s); contract.IsUUID(lower) {
		return lower
	}
	return s
}
