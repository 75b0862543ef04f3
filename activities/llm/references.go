package llm

import "strings"

// LookUp finds the target of a reference within a JSON Schema (RFC 6901); nil if there is none.
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
