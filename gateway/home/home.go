// Package home serves what is at the root of an agent: the page for people and, to programs, the links of
// the API.
package home

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/page"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/workflows/contract"
)

// homeLink is a link to a part of the API.
type homeLink struct {
	key string
	page.Link
}

// Home has the handlers.
type Home struct {
	page  *page.Page
	reply homeReply
}

// New makes the home of an agent. webUI is the URL of the Temporal Web UI, or "".
func New(agent contract.Agent, version, webUI, namespace string) *Home {
	reply, links := homeReply{agent.Name, agent.Description, version, map[string]string{}}, []page.Link{}
	for _, l := range homeLinks(webUI) {
		reply.Links[l.key], links = l.Href, append(links, l.Link)
	}
	if webUI != "" { // for the ID of a workflow behind it
		reply.Links["temporal_workflows"] = webUI + "/namespaces/" + url.PathEscape(namespace) + "/workflows/"
	}
	return &Home{page.New(page.Agent{Name: agent.Name, Description: agent.Description, Version: version, Links: links}), reply}
}

// homeLinks lists the links. Their addresses are relative, for gateways behind a path prefix.
func homeLinks(webUI string) []homeLink {
	links := []homeLink{
		{"docs", page.Link{Href: "docs", Label: "API", About: "Every operation, to read and to try"}},
		{"openapi", page.Link{Href: "openapi.yaml", Label: "OpenAPI file", About: "The same for programs"}},
		{"approvals", page.Link{Href: "approvals", Label: "Open approvals", About: "What waits for a person, as JSON"}},
		{"conversations", page.Link{Href: "conversations", Label: "Conversations", About: "Running and completed ones, as JSON"}},
		{"tools", page.Link{Href: "tools", Label: "Tools", About: "What the agent can do, and which tools ask first, as JSON"}},
		{"ag_ui", page.Link{Href: "ag-ui", Label: "AG-UI", About: "The endpoint for front ends, and what the agent can do there, as JSON"}},
		{"a2a_card", page.Link{Href: ".well-known/agent-card.json", Label: "A2A card", About: "What other agents must know of this one, as JSON"}},
		{"health", page.Link{Href: "health/ready", Label: "Health", About: "Whether a conversation could run now, and what is missing, as JSON"}},
	}
	if webUI != "" {
		links = append(links, homeLink{"temporal_ui", page.Link{Href: webUI, Label: "Temporal Web UI", About: "Every conversation and approval as it runs"}})
	}
	return links
}

type homeReply struct {
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Version     string            `json:"version,omitempty"`
	Links       map[string]string `json:"links"`
}

// Show replies with the page for people or with JSON for programs.
func (h *Home) Show(c echo.Context) error {
	c.Response().Header().Add("Vary", "Accept")
	if !request.Prefers(c.Request(), "text/html") {
		return c.JSON(http.StatusOK, h.reply)
	}
	h.page.Document(c.Response(), c.Request())
	return nil
}

// File replies with a file of the page.
func (h *Home) File(c echo.Context) error {
	if !h.page.File(c.Response(), c.Request(), strings.TrimPrefix(c.Param("*"), "/")) {
		return echo.ErrNotFound
	}
	return nil
}
