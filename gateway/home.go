package gateway

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"
)

// homeLink leads from the first page to a part of the service.
type homeLink struct{ key, Href, Label, About string }

// homeLinks lists the parts. Their addresses are relative, for gateways behind a prefix.
func (g *Gateway) homeLinks() []homeLink {
	links := []homeLink{
		{"docs", "docs", "API", "Every operation, to read and to try"},
		{"openapi", "openapi.yaml", "OpenAPI file", "The same for programs"},
		{"approvals", "approvals", "Open approvals", "What waits for a person, as JSON"},
		{"conversations", "conversations", "Conversations", "Running and completed ones, as JSON"},
		{"tools", "tools", "Tools", "What the agent can do, and which tools ask first, as JSON"},
		{"ag_ui", "ag-ui", "AG-UI", "The endpoint for front ends, and what the agent can do there, as JSON"},
		{"a2a_card", ".well-known/agent-card.json", "A2A card", "What other agents must know of this one, as JSON"},
		{"health", "health/ready", "Health", "Whether a conversation could run now, and what is missing, as JSON"},
	}
	if g.WebUI != "" {
		links = append(links, homeLink{"temporal_ui", g.WebUI, "Temporal Web UI", "Every conversation and approval as it runs"})
	}
	return links
}

type homeReply struct {
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Version     string            `json:"version,omitempty"`
	Links       map[string]string `json:"links"`
}

// home leads on: a person by a page, a program by JSON.
func (g *Gateway) home(c echo.Context) error {
	header := c.Response().Header()
	header.Add("Vary", "Accept")
	links := g.homeLinks()
	if !prefers(c, "text/html") {
		reply := homeReply{g.Agent.Name, g.Agent.Description, g.Version, map[string]string{}}
		for _, l := range links {
			reply.Links[l.key] = l.Href
		}
		return c.JSON(http.StatusOK, reply)
	}
	var page bytes.Buffer
	err := homePage.Execute(&page, map[string]any{
		"Name": g.Agent.Name, "Description": g.Agent.Description, "Version": g.Version, "Links": links, "Style": template.CSS(homeStyle),
	})
	if err != nil {
		return err
	}
	header.Set("Content-Security-Policy", homePolicy)
	return c.HTMLBlob(http.StatusOK, page.Bytes())
}

var (
	//go:embed home.html
	homeTemplate string
	//go:embed home.css
	homeStyle string

	homePage = template.Must(template.New("home").Parse(homeTemplate))
	// homePolicy allows the page its own style and nothing else.
	homePolicy = "default-src 'none'; style-src 'sha256-" + digestOf(homeStyle) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}
