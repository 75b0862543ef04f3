package ollama

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/openai/talk"
	"agent-stop-and-go/workflows/contract"
)

// Endpoint has the HTTP handlers.
type Endpoint struct {
	Talk *talk.Talk
	// Text returns an error as clients get it.
	Text   func(error, *http.Request) string
	Logger *slog.Logger
}

// Channel is that of callers of this API, and marks their decisions.
const Channel = "ollama"

const (
	api = "/api/"
	// hybrid begins the same paths for clients whose base URL ends with /v1, such as Enchanted.
	hybrid = "/v1" + api
)

// Route is a route of the API. Scope is as in package gateway.
type Route struct {
	Method, Path, Scope string
	Handle              echo.HandlerFunc
}

// Is reports whether a path is one of this API.
func Is(path string) bool { return strings.HasPrefix(path, api) || strings.HasPrefix(path, hybrid) }

// TakesFiles reports whether the requests of a path may have images.
func TakesFiles(path string) bool {
	return Is(path) && (strings.HasSuffix(path, "/chat") || strings.HasSuffix(path, "/generate"))
}

// Routes lists the routes. Each GET route also answers HEAD.
func (ep *Endpoint) Routes() []Route {
	const none, anyone = "none", "any"
	out := []Route{{http.MethodGet, "/", none, running}}
	for _, prefix := range []string{api, hybrid} {
		out = append(out,
			Route{http.MethodPost, prefix + "chat", contract.ScopeConverse, ep.chat},
			Route{http.MethodPost, prefix + "generate", contract.ScopeConverse, ep.generate},
			Route{http.MethodGet, prefix + "tags", anyone, ep.tags},
			Route{http.MethodPost, prefix + "show", anyone, ep.show},
			Route{http.MethodGet, prefix + "ps", anyone, ep.processes},
			Route{http.MethodGet, prefix + "version", none, version},
			Route{http.MethodHead, prefix + "blobs/:digest", anyone, noBlob},
		)
		for path, method := range notOffered {
			out = append(out, Route{method, prefix + path, anyone, refuse})
		}
	}
	return out
}

// running is what clients look for to see whether Ollama is there.
func running(c echo.Context) error { return c.String(http.StatusOK, "Ollama is running") }
