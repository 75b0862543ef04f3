package protocol

import (
	"net/http"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The header that lists extensions, and its name in 0.3.
const (
	headerExtensions    = a2a.SvcParamExtensions
	headerExtensionsV03 = "X-" + a2a.SvcParamExtensions
)

// requested lists the extensions in the headers of a request, each once.
func requested(h http.Header) []string {
	var out []string
	for _, line := range slices.Concat(h.Values(headerExtensions), h.Values(headerExtensionsV03)) {
		for uri := range strings.SplitSeq(line, ",") {
			if uri = strings.TrimSpace(uri); uri != "" && !slices.Contains(out, uri) {
				out = append(out, uri)
			}
		}
	}
	return out
}

// activator returns a function that adds an extension to the response headers. It also sets
// the 0.3 header if the request has it.
func activator(w http.ResponseWriter, r *http.Request) func(uri string) {
	var active []string
	return func(uri string) {
		if slices.Contains(active, uri) {
			return
		}
		active = append(active, uri)
		w.Header().Set(headerExtensions, strings.Join(active, ", "))
		if r.Header.Get(headerExtensionsV03) != "" {
			w.Header().Set(headerExtensionsV03, strings.Join(active, ", "))
		}
	}
}
