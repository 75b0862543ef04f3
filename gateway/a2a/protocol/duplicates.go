package protocol

import (
	"bytes"
	"encoding/json"
)

// duplicateMember returns the name of a member that some object in a JSON value has twice, or
// "". Decoders differ in which of the two they use, so an answer that contains both yes and
// no must be refused.
func duplicateMember(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	var open []map[string]bool // the names so far of each open object; nil for a list
	name := false              // the next string is a name
	for {
		t, err := dec.Token()
		if err != nil {
			return "" // end of the input, which is valid JSON
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
