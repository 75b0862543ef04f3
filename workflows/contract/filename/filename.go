// Package filename finds the name of a file in what servers call it.
package filename

import (
	"cmp"
	"net/url"
	"path"
	"strings"
)

// Of returns the name of a file without its directory, from a path or a URI, or "".
func Of(name string) string {
	if u := ParseURI(name); u != nil {
		name = cmp.Or(strings.TrimRight(u.Path, "/"), u.Opaque, u.Host)
	}
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	return name
}

// ParseURI returns nil for a text that is not an absolute URI, such as a name or C:\\file.
func ParseURI(name string) *url.URL {
	u, err := url.Parse(name)
	if err != nil || len(u.Scheme) < 2 {
		return nil
	}
	return u
}
