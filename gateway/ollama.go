package gateway

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/ollama"
)

// Ollama returns the handler of Ollama's API, which has a port of its own. Callers prove who they are as
// for the rest of the API.
func (g *Gateway) Ollama() http.Handler { return g.ollama }

// ollamaTable lists the routes of Ollama's API, and those of OpenAI's, which Ollama has too.
func ollamaTable(ep *ollama.Endpoint, main []route) (table []route) {
	for _, r := range ep.Routes() {
		table = append(table, route{Route{r.Method, r.Path, r.Scope, ""}, r.Handle})
	}
	for _, r := range main {
		if r.Path == pathChat {
			r.handle = ep.Either(r.handle)
		}
		if channelOf(r.Path) == channelOpenAI {
			table = append(table, r)
		}
	}
	return table
}

// hostOf returns under which name and port a client reaches the API.
func (g *Gateway) hostOf(c echo.Context) string {
	host := c.Request().Host
	if c.Echo() != g.ollama || g.port == 0 {
		return host
	}
	name := (&url.URL{Host: host}).Hostname() // [::1] is ::1, also without a port
	return net.JoinHostPort(name, strconv.Itoa(g.port))
}

// openAIForm reports whether a client expects errors of OpenAI's API.
func (g *Gateway) openAIForm(c echo.Context) bool {
	return channelOf(c.Request().URL.Path) == channelOpenAI && !(c.Echo() == g.ollama && ollama.Expected(c.Request()))
}

// takesFiles reports whether the requests of a route may be larger.
func takesFiles(path string) bool {
	return ollama.TakesFiles(path) || slices.Contains(withFiles, path)
}
