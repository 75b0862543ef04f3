package ollama

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// Expected reports whether a client expects Ollama's form, and not OpenAI's: by its name, or else by
// the path. LM Studio and Open WebUI ask for OpenAI's API under /v1.
func Expected(r *http.Request) bool {
	name := strings.ToLower(r.UserAgent())
	for _, known := range []struct {
		name   string
		ollama bool
	}{{"ollama", true}, {"enchanted", true}, {"lm studio", false}, {"lmstudio", false}, {"open-webui", false}, {"openwebui", false}} {
		if strings.Contains(name, known.name) {
			return known.ollama || Is(r.URL.Path)
		}
	}
	return Is(r.URL.Path)
}

// Either answers a chat in the form that the client expects. openAI is the handler of
// chat/completions.
func (ep *Endpoint) Either(openAI echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if Expected(c.Request()) {
			return ep.chat(c)
		}
		return openAI(c)
	}
}
