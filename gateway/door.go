package gateway

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/codec"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/mcpservers/hosting/guard"
	"agent-stop-and-go/workflows/contract"
)

// Error kinds of requests that web pages of other sites might send.
const (
	KindMisdirected contract.Kind = "misdirected" // for a host name that is not ours
	KindForeignPage               = codec.KindForeignPage
)

var doorKinds = map[int]contract.Kind{
	http.StatusMisdirectedRequest: KindMisdirected,
	http.StatusForbidden:          KindForeignPage,
}

// openRoutes are the probes: they answer under any host name, because probes use addresses that are not
// configured.
var openRoutes = []string{pathHealth, pathReady}

// door refuses requests for other hosts and from pages of other origins, before anything else
// reads them. Listed origins get CORS headers.
// What decrypts has a list of its own.
func door(rules, decrypting guard.Rules, probes []string) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if codec.Is(c.Request()) {
				return codec.Pass(c, decrypting, func() error { return passDoor(decrypting, probes, next, c) })
			}
			return passDoor(rules, probes, next, c)
		}
	}
}

func passDoor(rules guard.Rules, probes []string, next echo.HandlerFunc, c echo.Context) error {
	if refused := rules.Check(c.Request()); refused != nil && !slices.Contains(probes, c.Path()) {
		return service.Errorf(doorKinds[refused.Status], "%s", refused.Text)
	}
	h := c.Response().Header()
	h.Set("X-Frame-Options", "SAMEORIGIN") // for browsers without fetch metadata
	if len(rules.Origins) > 0 {
		h.Add("Vary", "Origin")
	}
	if origin := c.Request().Header.Get("Origin"); rules.Listed(origin) {
		h.Set("Access-Control-Allow-Origin", origin)
		if isPreflight(c.Request()) {
			return preflight(c)
		}
		h.Set("Access-Control-Expose-Headers", exposedHeaders)
	}
	return next(c)
}

// exposedHeaders are the response headers that scripts of listed origins may read.
const exposedHeaders = "Location, Retry-After, Preference-Applied, Idempotency-Replayed, X-Session-ID, WWW-Authenticate, ETag, A2A-Extensions"

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// preflight allows a listed origin to send any header.
func preflight(c echo.Context) error {
	h := c.Response().Header()
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PATCH, DELETE")
	h.Set("Access-Control-Max-Age", "600")
	h.Add("Vary", "Access-Control-Request-Headers")
	if asked := c.Request().Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	return c.NoContent(http.StatusNoContent)
}
