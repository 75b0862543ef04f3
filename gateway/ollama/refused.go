package ollama

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// KindNotOffered is the kind of requests for what an agent cannot do. Its status is 501.
const KindNotOffered contract.Kind = "not_offered"

// notOffered are the paths of what an agent cannot do, with their methods.
var notOffered = map[string]string{
	"create": http.MethodPost, "copy": http.MethodPost, "pull": http.MethodPost, "push": http.MethodPost, "delete": http.MethodDelete,
	"embed": http.MethodPost, "embeddings": http.MethodPost, "blobs/:digest": http.MethodPost,
}

func refuse(c echo.Context) error {
	path := c.Path()
	name, _, _ := strings.Cut(path[strings.Index(path, api)+len(api):], "/")
	return service.Errorf(KindNotOffered, "%s is not supported: the models here are agents, which are configured and not %s", name, map[bool]string{
		true: "asked for embeddings", false: "changed over this API",
	}[strings.HasPrefix(name, "embed")])
}

// noBlob says that a file for a new model is not there, as for every one.
func noBlob(c echo.Context) error { return c.NoContent(http.StatusNotFound) }
