package gateway

import (
	_ "embed"
	"fmt"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"
	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"

	"agent-stop-and-go/gateway/apidoc"
)

//go:embed openapi.yaml
var openAPIFile []byte

// OpenAPI returns the description of the API in YAML.
func OpenAPI() []byte { return append([]byte(nil), openAPIFile...) }

// theAPI is the short form of openapi.yaml. The file is embedded and tested, so parsing it
// cannot fail.
var theAPI = sync.OnceValue(func() apidoc.Document {
	doc, err := apidoc.Read(openAPIFile)
	if err != nil {
		panic(fmt.Sprintf("read openapi.yaml: %v", err))
	}
	return doc
})

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
		Title: theAPI().Title, SwaggerJSON: "/openapi.yaml", BasePath: "/docs/", PrependHTML: theAPI().List(),
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
