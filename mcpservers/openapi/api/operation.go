package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Selection selects operations: those of Include that are not in Exclude.
type Selection struct {
	Include  Pattern `yaml:"include"` // empty for all
	Exclude  Pattern `yaml:"exclude"`
	ReadOnly bool    `yaml:"read_only"` // only GET and HEAD, or what x-mcp says
}

// Pattern matches operations that have one of the tags, an operation id or a path. Ids and paths may have
// * and paths **.
type Pattern struct {
	Tags       []string `yaml:"tags"`
	Operations []string `yaml:"operations"`
	Paths      []string `yaml:"paths"`
}

func (p Pattern) empty() bool { return len(p.Tags)+len(p.Operations)+len(p.Paths) == 0 }

// Validate reports malformed patterns.
func (p Pattern) Validate() error {
	var errs []error
	for _, pattern := range slices.Concat(p.Operations, p.Paths) {
		if !doublestar.ValidatePattern(pattern) {
			errs = append(errs, fmt.Errorf("the pattern %q is malformed", pattern))
		}
	}
	return errors.Join(errs...)
}

func (p Pattern) matches(id, at string, tags []string) bool {
	return slices.ContainsFunc(p.Tags, func(tag string) bool { return slices.Contains(tags, tag) }) ||
		slices.ContainsFunc(p.Operations, func(pattern string) bool { ok, _ := path.Match(pattern, id); return ok }) ||
		slices.ContainsFunc(p.Paths, func(pattern string) bool { ok, _ := doublestar.Match(pattern, at); return ok })
}

// Hints say what an operation does.
type Hints struct{ ReadOnly, Destructive, Idempotent bool }

// Operation can be called.
type Operation struct {
	Name        string // of the tool
	Method      string
	Path        string // with {parameters}
	Summary     string // one line
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
	paths := d.doc.Paths.Map()
	for _, at := range slices.Sorted(maps.Keys(paths)) {
		item := paths[at]
		for _, method := range methods {
			o := item.GetOperation(method)
			if o == nil {
				continue
			}
			made, err := d.operation(at, method, item, o, fallback, s, base, names)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, at, err)
			}
			if made != nil {
				names[made.Name] = true
				all = append(all, made)
			}
		}
	}
	return all, nil
}

// operation returns nil for an operation that is not selected.
func (d *Document) operation(at, method string, item *openapi3.PathItem, o *openapi3.Operation, fallback extension, s Selection, base string, names map[string]bool) (*Operation, error) {
	if !s.Include.empty() && !s.Include.matches(o.OperationID, at, o.Tags) || s.Exclude.matches(o.OperationID, at, o.Tags) {
		return nil, nil
	}
	fallback, err := extensionOf(item.Extensions, fallback)
	if err != nil {
		return nil, err
	}
	x, err := extensionOf(o.Extensions, fallback)
	if err != nil {
		return nil, err
	}
	hints := hintsOf(method, x)
	if x.Hidden || s.ReadOnly && !hints.ReadOnly {
		return nil, nil
	}
	made := &Operation{Method: method, Path: at, Tags: o.Tags, Hints: hints, Name: toolName(cmp.Or(x.Name, o.OperationID, method+"_"+strings.Trim(at, "/")), names)}
	made.Description = strings.TrimSpace(cmp.Or(x.Description, strings.TrimSpace(o.Summary+"\n\n"+o.Description), method+" "+at))
	made.Summary, _, _ = strings.Cut(made.Description, "\n")
	if made.base, err = d.server(item, o, base); err != nil {
		return nil, err
	}
	made.Security = d.doc.Security
	if o.Security != nil {
		made.Security = *o.Security
	}
	return made, made.build(item, o, d.keysIn())
}

// hintsOf says what a method does, as RFC 9110 §9.2 has it. All but GET and HEAD may change or remove something.
func hintsOf(method string, x extension) Hints {
	h := Hints{
		ReadOnly:   method == http.MethodGet || method == http.MethodHead,
		Idempotent: method != http.MethodPost && method != http.MethodPatch,
	}
	h.Destructive = !h.ReadOnly
	if x.Hints.ReadOnly != nil {
		h.ReadOnly, h.Destructive = *x.Hints.ReadOnly, !*x.Hints.ReadOnly
		h.Idempotent = h.Idempotent || h.ReadOnly
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
	if err == nil && d.at != nil {
		u = d.at.ResolveReference(u)
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
