package apidoc

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Read reads a description of an API in the form of OpenAPI, in YAML.
func Read(file []byte) (Document, error) {
	var doc openAPIDocument
	if err := yaml.Unmarshal(file, &doc); err != nil {
		return Document{}, err
	}
	out := Document{Title: doc.Info.Title, Description: doc.Info.Description, Version: doc.Info.Version}
	err := pairs(&doc.Paths, func(route string, item *yaml.Node) error {
		return pairs(item, func(method string, n *yaml.Node) error {
			if !slices.Contains([]string{"get", "post", "patch", "delete"}, method) {
				return nil
			}
			var op operation
			if err := n.Decode(&op); err != nil {
				return fmt.Errorf("%s %s: %w", method, route, err)
			}
			out.Endpoints = append(out.Endpoints, op.endpoint(method, route))
			return nil
		})
	})
	return out, err
}

// pairs visits the members of a mapping in the order of the file.
func pairs(n *yaml.Node, visit func(key string, value *yaml.Node) error) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := visit(n.Content[i].Value, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

var asEcho = strings.NewReplacer("{", ":", "}", "")

func (op operation) endpoint(method, route string) Endpoint {
	e := Endpoint{
		Method: strings.ToUpper(method), Path: asEcho.Replace(route),
		Summary: op.Summary, Description: strings.TrimSpace(op.Description), Responses: map[string]string{},
	}
	for status, r := range op.Responses {
		e.Responses[status] = r.Description
		if r.Ref != "" {
			e.Responses[status] = path.Base(r.Ref)
		}
	}
	for _, content := range op.RequestBody.Content {
		if names := slices.Sorted(maps.Keys(content.Examples)); len(names) > 0 {
			e.Request = content.Examples[names[0]].Value
		}
	}
	return e
}
