package apidoc

import (
	"fmt"
	"html/template"
	"strings"

	"gopkg.in/yaml.v3"
)

// Document is the short form of openapi.yaml at /docs/json.
type Document struct {
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Version     string     `json:"version"`
	Endpoints   []Endpoint `json:"endpoints"`
}

// Endpoint is an operation of the API.
type Endpoint struct {
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

// List returns the list of endpoints for a page without JavaScript.
func (d Document) List() template.HTML {
	var b strings.Builder
	b.WriteString("<noscript><h1>" + template.HTMLEscapeString(d.Title) + "</h1><ul>")
	for _, e := range d.Endpoints {
		fmt.Fprintf(&b, "<li><code>%s %s</code> %s</li>", e.Method, template.HTMLEscapeString(e.Path), template.HTMLEscapeString(e.Summary))
	}
	b.WriteString("</ul></noscript>")
	return template.HTML(b.String()) //nolint:gosec // escaped above, from an embedded file
}
