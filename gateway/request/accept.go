package request

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// WantsEvents reports whether the caller prefers server-sent events to JSON.
func WantsEvents(r *http.Request) bool { return Prefers(r, "text/event-stream") }

// Prefers reports whether the caller accepts a media type and does not prefer JSON to it.
func Prefers(r *http.Request, wanted string) bool {
	most, plain := 0.0, 0.0
	for _, header := range r.Header.Values("Accept") {
		for _, offer := range strings.Split(header, ",") {
			switch kind, q := quality(offer); kind {
			case wanted:
				most = max(most, q)
			case "application/json":
				plain = max(plain, q)
			}
		}
	}
	return most > 0 && most >= plain
}

func quality(offer string) (kind string, q float64) {
	kind, params, err := mime.ParseMediaType(offer)
	if err != nil {
		return "", 0
	}
	if q, err = strconv.ParseFloat(params["q"], 64); err != nil {
		q = 1
	}
	return kind, q
}

// PrefersAsync reports whether the caller sent Prefer: respond-async (RFC 7240).
func PrefersAsync(r *http.Request) bool {
	for _, value := range r.Header.Values("Prefer") {
		for _, preference := range strings.Split(value, ",") {
			name, _, _ := strings.Cut(preference, ";")
			if strings.EqualFold(strings.TrimSpace(name), "respond-async") {
				return true
			}
		}
	}
	return false
}
