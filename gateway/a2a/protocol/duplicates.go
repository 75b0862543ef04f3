package protocol

import (
	"bytes"
	"encoding/json"
)

// duplicateMember returns a member that some object in a JSON value has twice, or "". Readers
// differ in which of two they take, and an answer that says both yes and no must not
// count as either.
func duplicateMember(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	var open []map[string]bool // the members so far of each object around; nil for a list
	name := false              // the next string is a name
	for {
		t, err := dec.Token()
		if err != nil {
			return "" // the end: the value was valid
		}
		switch t := t.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, map[string]bool{})
			case '[':
				open = append(open, nil)
			default:
				open = open[:len(open)-1]
			}
			name = len(open) > 0 && open[len(open)-1] != nil
			continue
		case string:
			if name {
				if open[len(open)-1][t] {
					return t
				}
				open[len(open)-1][t] = true
				name = false
				continue
			}
		}
		name = len(open) > 0 && open[len(open)-1] != nil
	}
}
