package gateway

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/workflows/contract"
)

// homeLink is a link on the first page.
type homeLink struct{ key, Href, Label, About string }

// home serves the first page.
type home struct {
	agent          contract.Agent
	version, webUI string
}

// links lists the links. Their addresses are relative, for gateways behind a path prefix.
func (h *home) links() []homeLink {
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
	if h.webUI != "" {
		links = append(links, homeLink{"temporal_ui", h.webUI, "Temporal Web UI", "Every conversation and approval as it runs"})
	}
	return links
}

type homeReply struct {
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Version     string            `json:"version,omitempty"`
	Links       map[string]string `json:"links"`
}

// show replies with a page for people or with JSON for programs.
func (h *home) show(c echo.Context) error {
	header := c.Response().Header()
	header.Add("Vary", "Accept")
	links := h.links()
	if !request.Prefers(c.Request(), "text/html") {
		reply := homeReply{h.agent.Name, h.agent.Description, h.version, map[string]string{}}
		for _, l := range links {
			reply.Links[l.key] = l.Href
		}
		return c.JSON(http.StatusOK, reply)
	}
	var page bytes.Buffer
	err := homePage.Execute(&page, map[string]any{
		"Name": h.agent.Name, "Description": h.agent.Description, "Version": h.version, "Links": links, "Style": template.CSS(homeStyle),
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
	// homePolicy allows the page only its own style.
	homePolicy = "default-src 'none'; style-src 'sha256-" + digestOf(homeStyle) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}
