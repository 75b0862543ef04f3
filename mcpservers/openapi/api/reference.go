package api

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"gopkg.in/yaml.v3"
)

// source is a document as it was read.
type source struct {
	at   *url.URL
	data []byte
	root *yaml.Node // once it was parsed
}

// sources are the documents that a loader has read.
type sources []source

// recorded returns a function that reads as read does and adds what it reads to the sources.
func (s *sources) recorded(read openapi3.ReadFromURIFunc) openapi3.ReadFromURIFunc {
	return func(loader *openapi3.Loader, uri *url.URL) ([]byte, error) {
		data, err := read(loader, uri)
		if err == nil {
			*s = append(*s, source{at: uri, data: data})
		}
		return data, err
	}
}

// explain adds the first $ref whose fragment leads nowhere to an error of the loader, which names a part of
// the fragment only.
func (s sources) explain(err error) error {
	for i := range s {
		var document yaml.Node
		if yaml.Unmarshal(s[i].data, &document) == nil && document.Kind == yaml.DocumentNode {
			s[i].root = document.Content[0]
		}
	}
	for _, from := range s {
		if from.root == nil {
			continue
		}
		if ref := s.dangling(from.at, from.root); ref != nil {
			return fmt.Errorf("%s:%d: $ref %q: %w", path.Base(from.at.Path), ref.Line, ref.Value, err)
		}
	}
	return err
}

// verbatim are keywords whose values are no part of the document.
var verbatim = []string{"example", "examples", "default", "enum", "const"}

// dangling returns the first $ref in a node whose fragment leads nowhere.
func (s sources) dangling(at *url.URL, n *yaml.Node) *yaml.Node {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		if n.Kind == yaml.MappingNode {
			switch key := n.Content[i-1].Value; {
			case key == "$ref" && child.Kind == yaml.ScalarNode && s.nowhere(at, child.Value):
				return child
			case slices.Contains(verbatim, key):
				continue
			}
		}
		if found := s.dangling(at, child); found != nil {
			return found
		}
	}
	return nil
}

// nowhere reports whether the fragment of a reference leads nowhere in a document that was read.
func (s sources) nowhere(at *url.URL, ref string) bool {
	u, err := url.Parse(ref)
	if err != nil || !strings.HasPrefix(u.Fragment, "/") {
		return false
	}
	target := *at
	switch {
	case u.Host != "":
		target = *u
	case u.Path != "":
		target.Path, target.RawQuery = path.Join(path.Dir(at.Path), u.Path), u.RawQuery
	}
	i := slices.IndexFunc(s, func(to source) bool {
		return to.at.Host == target.Host && path.Clean(to.at.Path) == path.Clean(target.Path) && to.at.RawQuery == target.RawQuery
	})
	if i < 0 || s[i].root == nil {
		return false
	}
	n := s[i].root
	for segment := range strings.SplitSeq(u.Fragment[1:], "/") {
		n = step(n, strings.NewReplacer("~1", "/", "~0", "~").Replace(segment))
		if n == nil {
			return true
		}
		if step(n, "$ref") != nil {
			return false // what it leads to is checked for itself
		}
	}
	return false
}

// step returns a member or an element of a node, or nil.
func step(n *yaml.Node, name string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == name {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}
