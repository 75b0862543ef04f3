package gateway

import (
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"
	"gopkg.in/yaml.v3"
)

//go:embed openapi.yaml
var openAPIFile []byte

// OpenAPI returns the description of the API in YAML.
func OpenAPI() []byte { return append([]byte(nil), openAPIFile...) }

func serveOpenAPI(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/yaml", openAPIFile)
}

func serveDocsJSON(c echo.Context) error {
	return c.JSON(http.StatusOK, theAPI())
}

// docsPage serves the interactive page. Its scripts and styles are embedded. Without
// JavaScript it lists the routes.
func docsPage() echo.HandlerFunc {
	page := v5emb.NewHandlerWithConfig(swgui.Config{
		Title: theAPI().Title, SwaggerJSON: "/openapi.yaml", BasePath: "/docs/", PrependHTML: withoutScripts(theAPI()),
	})
	return func(c echo.Context) error {
		w := &withoutNotFound{ResponseWriter: c.Response()}
		page.ServeHTTP(w, c.Request())
		if w.notFound {
			w.Header().Del("Content-Type")
			return echo.ErrNotFound
		}
		return nil
	}
}

// withoutNotFound suppresses a 404 of the page, so that the API's own is written.
type withoutNotFound struct {
	http.ResponseWriter
	notFound bool
}

func (w *withoutNotFound) WriteHeader(status int) {
	if w.notFound = status == http.StatusNotFound; !w.notFound {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *withoutNotFound) Write(p []byte) (int, error) {
	if w.notFound {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

func withoutScripts(api apiDocument) template.HTML {
	var b strings.Builder
	b.WriteString("<noscript><h1>" + template.HTMLEscapeString(api.Title) + "</h1><ul>")
	for _, e := range api.Endpoints {
		fmt.Fprintf(&b, "<li><code>%s %s</code> %s</li>", e.Method, template.HTMLEscapeString(e.Path), template.HTMLEscapeString(e.Summary))
	}
	b.WriteString("</ul></noscript>")
	return template.HTML(b.String()) //nolint:gosec // escaped above, from an embedded file
}

// apiDocument is the short form of openapi.yaml at /docs/json.
type apiDocument struct {
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Version     string        `json:"version"`
	Endpoints   []endpointDoc `json:"endpoints"`
}

type endpointDoc struct {
	Method      string            `json:"method"`
	Path        string            `json:"path"` // in Echo's form
	Summary     string            `json:"summary"`
	Description string            `json:"description"`
	Request     any               `json:"request,omitempty"` // an example
	Responses   map[string]string `json:"responses"`         // description by status
}

type openAPIDocument struct {
	Info struct {
		Title, Description, Version string
	}
	Paths yaml.Node // a node keeps the order
}

type operation struct {
	Summary, Description string
	RequestBody          struct {
		Content map[string]struct {
			Examples map[string]struct{ Value any }
		}
	} `yaml:"requestBody"`
	Responses map[string]struct {
		Description string
		Ref         string `yaml:"$ref"`
	}
}
