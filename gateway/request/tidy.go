package request

import (
	"net/http"
	"net/url"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Tidy returns a request with its path in the form of the routes: without a slash at the end,
// with UUIDs in lower case, and without escapes, which clients may use for any character (RFC 3986, 2.4), such as the colon in the
// name of a model. The escape of a slash stays, because it separates nothing. It does not redirect, because a redirect would lose
// the body of a POST.
func Tidy(r *http.Request) *http.Request {
	path, raw := tidyPath(r.URL.Path), tidyPath(r.URL.RawPath)
	if !strings.Contains(strings.ToLower(raw), "%2f") {
		raw = ""
	}
	if path == r.URL.Path && raw == r.URL.RawPath {
		return r
	}
	out, u := new(http.Request), new(url.URL)
	*out, *u = *r, *r.URL
	u.Path, u.RawPath = path, raw
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
