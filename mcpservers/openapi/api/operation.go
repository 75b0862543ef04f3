package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Hints say what an operation does.
type Hints struct{ ReadOnly, Destructive, Idempotent bool }

// Operation can be called.
type Operation struct {
	Name        string // of the tool
	Method      string
	Path        string // with {parameters}
	Summary     string // one line; "" if the document says nothing
	Description string
	Tags        []string
	Hints       Hints
	Input       map[string]any // JSON schema of the arguments
	// Security has the alternatives of schemes that a call needs, with their scopes; nil for none.
	Security openapi3.SecurityRequirements

	base       *url.URL
	parameters []parameter
	body       *body
	keyed      string // name of the header for an idempotency key, "" for none
	checked    *jsonschema.Schema
}

// extension is x-mcp.
type extension struct {
	Name, Description string
	Hidden            bool
	Hints             struct{ ReadOnly, Destructive, Idempotent *bool }
}

func extensionOf(all map[string]any, otherwise extension) (extension, error) {
	value, ok := all["x-mcp"]
	if !ok {
		return otherwise, nil
	}
	if offered, ok := value.(bool); ok {
		return extension{Hidden: !offered}, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return extension{}, fmt.Errorf("x-mcp: %w", err)
	}
	var e extension
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return extension{}, fmt.Errorf("x-mcp: %w", err)
	}
	return e, nil
}

// methods are the methods of operations that can be called.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// Operations returns the operations of a selection, by path. base is the address of the API instead of the
// first server of the document; "" for that one.
func (d *Document) Operations(s Selection, base string) ([]*Operation, error) {
	var all []*Operation
	names := map[string]bool{}
	fallback, err := extensionOf(d.doc.Extensions, extension{})
	if err != nil {
		return nil, err
	}
	selected := s.selector()
	paths := d.doc.Paths.Map()
	for _, at := range slices.Sorted(maps.Keys(paths)) {
		item := paths[at]
		for _, method := range methods {
			o := item.GetOperation(method)
			if o == nil {
				continue
			}
			x, err := extensionsOf(item, o, fallback)
			name := toolName(cmp.Or(x.Name, o.OperationID, method+"_"+strings.Trim(at, "/")), names)
			names[name] = true // also if it is not selected, so that names do not depend on the selection
			hints := hintsOf(method, x)
			if !selected.takes(o, name, at) || err == nil && (x.Hidden || s.ReadOnly && !hints.ReadOnly) {
				continue
			}
			made := &Operation{Method: method, Path: at, Tags: o.Tags, Hints: hints, Name: name}
			if err == nil {
				err = d.fill(made, x, item, o, base)
			}
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, at, err)
			}
			all = append(all, made)
		}
	}
	return all, selected.unmatched()
}

// fill sets what the document says of an operation.
func (d *Document) fill(made *Operation, x extension, item *openapi3.PathItem, o *openapi3.Operation, base string) (err error) {
	made.Description = strings.TrimSpace(cmp.Or(x.Description, o.Summary+"\n\n"+o.Description))
	made.Summary, _, _ = strings.Cut(made.Description, "\n")
	if made.base, err = d.server(item, o, base); err != nil {
		return err
	}
	made.Security = d.doc.Security
	if o.Security != nil {
		made.Security = *o.Security
	}
	return made.build(item, o, d.keysIn())
}

// extensionsOf returns x-mcp of an operation, or that of its path, or fallback.
func extensionsOf(item *openapi3.PathItem, o *openapi3.Operation, fallback extension) (extension, error) {
	fallback, err := extensionOf(item.Extensions, fallback)
	if err != nil {
		return extension{}, err
	}
	return extensionOf(o.Extensions, fallback)
}

// safe are the methods that RFC 9110 §9.2.1 calls idempotent because they change nothing.
var safe = []string{http.MethodGet, http.MethodHead, http.MethodOptions}

// hintsOf says what a method does, as RFC 9110 §9.2 has it. All but GET and HEAD may change or remove something.
func hintsOf(method string, x extension) Hints {
	h := Hints{
		ReadOnly:   method == http.MethodGet || method == http.MethodHead,
		Idempotent: method != http.MethodPost && method != http.MethodPatch,
	}
	h.Destructive = !h.ReadOnly
	if x.Hints.ReadOnly != nil {
		h.ReadOnly, h.Destructive = *x.Hints.ReadOnly, !*x.Hints.ReadOnly
		h.Idempotent = h.ReadOnly || h.Idempotent && !slices.Contains(safe, method)
	}
	if x.Hints.Destructive != nil {
		h.Destructive = *x.Hints.Destructive && !h.ReadOnly
	}
	if x.Hints.Idempotent != nil {
		h.Idempotent = *x.Hints.Idempotent
	}
	return h
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// toolName returns a name that tools may have, and that is not one of names.
func toolName(text string, names map[string]bool) string {
	name := strings.Trim(notInNames.ReplaceAllString(text, "_"), "_-")
	if len(name) > 60 {
		name = name[:60]
	}
	name = cmp.Or(name, "operation")
	for n, first := 2, name; names[name]; n++ {
		name = fmt.Sprintf("%s_%d", first, n)
	}
	return name
}

// server returns the address of an operation.
func (d *Document) server(item *openapi3.PathItem, o *openapi3.Operation, base string) (*url.URL, error) {
	servers := d.doc.Servers
	if len(item.Servers) > 0 {
		servers = item.Servers
	}
	if o.Servers != nil && len(*o.Servers) > 0 {
		servers = *o.Servers
	}
	if base == "" {
		base = "/"
		if len(servers) > 0 {
			base = servers[0].URL
			for name, v := range servers[0].Variables {
				base = strings.ReplaceAll(base, "{"+name+"}", v.Default)
			}
		}
	}
	u, err := url.Parse(base)
	if err == nil {
		u = cmp.Or(d.at, u).ResolveReference(u) // also takes dots out of the path
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the address of the server is malformed: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsAny(u.Path, "{}"):
		return nil, fmt.Errorf("the document does not say where the API is (%q): set base_url", base)
	}
	return u, nil
}

// keysIn returns the parameters that credentials are put into, as in:name.
func (d *Document) keysIn() map[string]bool {
	keys := map[string]bool{}
	for _, scheme := range d.Schemes() {
		if scheme.Type == "apiKey" {
			keys[placeOf(scheme.In, scheme.Name)] = true
		}
	}
	return keys
}

// placeOf names a parameter. Names of headers have no case.
func placeOf(in, name string) string {
	if in == "header" {
		name = strings.ToLower(name)
	}
	return in + ":" + name
}
