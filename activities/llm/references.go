package llm

import "strings"

// LookUp finds what a reference within a JSON Schema points to (RFC 6901); nil if
// that is nothing.
func LookUp(root map[string]any, ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	var at any = root
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		m, ok := at.(map[string]any)
		if path == "" || !ok {
			break
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return at
}
