package mcpserver

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Paths of the server, and of its metadata as a protected resource (RFC 9728 §3.1).
const (
	Path         = "/mcp"
	PathMetadata = "/.well-known/oauth-protected-resource"
)

// metadata says who issues tokens for the server (RFC 9728 §2).
type metadata struct {
	Resource string   `json:"resource"`
	Name     string   `json:"resource_name"`
	Issuers  []string `json:"authorization_servers"`
	Methods  []string `json:"bearer_methods_supported"`
}

// Metadata replies with the metadata, if there are providers whose tokens are accepted.
func (s *Server) Metadata(c echo.Context) error {
	if len(s.Issuers) == 0 {
		return service.Errorf(contract.KindNotFound, "no OpenID provider issues tokens for this agent")
	}
	base := request.From(c.Request().Context()).Caller.BaseURL
	return c.JSON(http.StatusOK, metadata{base + Path, s.Models.Agent.Name, s.Issuers, []string{"header"}})
}

// Challenge returns the parameter of WWW-Authenticate with which clients of a path find the metadata
// (RFC 9728 §5.1), "" if it has none.
func (s *Server) Challenge(path, base string) string {
	if path != Path || len(s.Issuers) == 0 {
		return ""
	}
	return `resource_metadata="` + base + PathMetadata + Path + `"`
}
