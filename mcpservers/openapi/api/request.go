package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// build sets the parameters, the body and the input of an operation. keys are parameters that credentials
// are put into.
func (o *Operation) build(item *openapi3.PathItem, from *openapi3.Operation, keys map[string]bool) error {
	c := &converter{left: maxSchemas}
	properties, required := map[string]any{}, []string{}
	all := map[string]*openapi3.Parameter{}
	var order []string
	for _, list := range []openapi3.Parameters{item.Parameters, from.Parameters} { // the operation's own win
		for _, ref := range list {
			if ref == nil || ref.Value == nil {
				continue
			}
			place := placeOf(ref.Value.In, ref.Value.Name)
			if all[place] == nil {
				order = append(order, place)
			}
			all[place] = ref.Value
		}
	}
	for _, place := range order {
		p := all[place]
		if place == "header:idempotency-key" {
			o.keyed = p.Name
		}
		// OpenAPI 3 ignores these headers as parameters.
		if keys[place] || place == "header:idempotency-key" || place == "header:authorization" || place == "header:accept" || place == "header:content-type" {
			continue
		}
		made, err := newParameter(p)
		if err != nil {
			return err
		}
		made.property = propertyName(p, properties)
		schema, err := parameterSchema(c, p)
		if err != nil {
			return fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		properties[made.property] = schema
		if p.Required {
			required = append(required, made.property)
		}
		o.parameters = append(o.parameters, made)
	}
	if from.RequestBody != nil && from.RequestBody.Value != nil {
		var err error
		if o.body, err = newBody(from.RequestBody.Value); err != nil {
			return err
		}
	}
	if o.body != nil {
		schema, err := o.body.input(c)
		if err != nil {
			return fmt.Errorf("body: %w", err)
		}
		properties["body"] = schema
		if o.body.required {
			required = append(required, "body")
		}
	}
	o.Input = map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		o.Input["required"] = required
	}
	return o.compile()
}

// propertyName returns the name of a parameter in the input.
func propertyName(p *openapi3.Parameter, taken map[string]any) string {
	name := cmp.Or(strings.Trim(notInNames.ReplaceAllString(p.Name, "_"), "_"), "parameter")
	if _, ok := taken[name]; ok || name == "body" {
		name = p.In + "_" + name
	}
	for n, first := 2, name; taken[name] != nil; n++ {
		name = fmt.Sprintf("%s_%d", first, n)
	}
	return name
}

func parameterSchema(c *converter, p *openapi3.Parameter) (any, error) {
	ref := p.Schema
	for _, media := range p.Content {
		if ref == nil && media != nil {
			ref = media.Schema
		}
	}
	schema, err := c.schema(ref, false)
	object, ok := schema.(map[string]any)
	if ok && p.Description != "" {
		object["description"] = p.Description
	}
	return schema, err
}

// compile prepares the check of arguments.
func (o *Operation) compile() error {
	text, err := json.Marshal(o.Input)
	if err != nil {
		return fmt.Errorf("write its schema: %w", err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("read its schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("input.json", schema); err != nil {
		return fmt.Errorf("its schema: %w", err)
	}
	if o.checked, err = compiler.Compile("input.json"); err != nil {
		return fmt.Errorf("its schema: %w", err)
	}
	return nil
}

// Call is what else a request has.
type Call struct {
	// Key is for the header Idempotency-Key, if the operation has one.
	Key string
	// Authorize adds credentials to the header and the query.
	Authorize func(header http.Header, query url.Values)
}

// Keyed reports whether the operation has an Idempotency-Key, with which the API runs a call once.
func (o *Operation) Keyed() bool { return o.keyed != "" }

// Request returns the request of a call with arguments, a JSON object.
func (o *Operation) Request(ctx context.Context, arguments json.RawMessage, call Call) (*http.Request, error) {
	args, err := o.arguments(arguments)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	target, err := o.target(args, header)
	if err != nil {
		return nil, err
	}
	var content io.Reader
	if value, ok := args["body"]; ok && o.body != nil {
		data, kind, err := o.body.encode(value)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(data)
		header.Set("Content-Type", kind)
	}
	if o.keyed != "" && call.Key != "" {
		header.Set(o.keyed, call.Key)
	}
	if call.Authorize != nil {
		more := url.Values{}
		call.Authorize(header, more)
		target.RawQuery = strings.Trim(target.RawQuery+"&"+more.Encode(), "&")
	}
	request, err := http.NewRequestWithContext(ctx, o.Method, target.String(), content)
	if err != nil {
		return nil, err
	}
	request.Header = header
	if header.Get("Accept") == "" {
		header.Set("Accept", "application/json, text/*;q=0.8, */*;q=0.5")
	}
	return request, nil
}

// arguments decodes and checks the arguments of a call. null at the top counts as absent.
func (o *Operation) arguments(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw)) // with json.Number
	args, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, errors.New("arguments must be a JSON object")
	}
	for name, v := range args {
		if v == nil && name != "body" {
			delete(args, name)
		}
	}
	if err := o.checked.Validate(args); err != nil {
		return nil, fmt.Errorf("arguments: %s", explain(err))
	}
	return args, nil
}

// explain writes the errors of a check in one line.
func explain(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines[i]), "- "))
	}
	if len(lines) > 1 {
		lines = lines[1:] // the first one names the schema
	}
	return strings.Join(lines[:min(len(lines), 5)], "; ")
}

// target returns the URL of a call, and sets headers.
func (o *Operation) target(args map[string]any, header http.Header) (*url.URL, error) {
	at := escapedTemplate(o.Path)
	var query, cookies []string
	for _, p := range o.parameters {
		value, ok := args[p.property]
		if !ok {
			continue
		}
		var err error
		if p.json {
			if value, err = jsonText(value); err != nil {
				return nil, err
			}
		}
		if err := p.put(value, &at, &query, &cookies, header); err != nil {
			return nil, fmt.Errorf("%s: %w", p.property, err)
		}
	}
	if strings.ContainsAny(at, "{}") {
		return nil, fmt.Errorf("the path %s has a parameter that the document does not describe", at)
	}
	if len(cookies) > 0 {
		header.Set("Cookie", strings.Join(cookies, "; "))
	}
	target, err := under(o.base, at)
	if err != nil {
		return nil, err
	}
	target.RawQuery = strings.Join(query, "&")
	return target, nil
}

// put writes a value into its place.
func (p parameter) put(value any, at *string, query, cookies *[]string, header http.Header) error {
	switch p.in {
	case "path":
		text, err := p.simple(value, url.PathEscape)
		if err != nil {
			return err
		}
		if text == "" {
			return errors.New("must not be empty")
		}
		*at = strings.ReplaceAll(*at, "{"+p.name+"}", text)
	case "header":
		text, err := p.simple(value, func(s string) string { return s })
		if err != nil || strings.ContainsAny(text, "\r\n\x00") {
			return cmp.Or(err, errors.New("must not have line breaks"))
		}
		header.Set(p.name, text)
	default:
		comma, escape, list := ",", p.escaped, query
		if p.in == "cookie" {
			comma, escape, list = "%2C", url.QueryEscape, cookies
		}
		pairs, err := p.pairs(value, comma, escape)
		if err != nil {
			return err
		}
		for _, one := range pairs {
			*list = append(*list, one.name+"="+one.value)
		}
	}
	return nil
}

// Base returns the address of the operation's server.
func (o *Operation) Base() *url.URL { return o.base }
