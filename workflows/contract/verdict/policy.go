package verdict

import "encoding/json"

// PolicyOf returns the version of the rules in the JSON of a Basis, "" if it is not known.
func PolicyOf(basis json.RawMessage) string {
	var b struct {
		Policy string `json:"policy"`
	}
	if json.Unmarshal(basis, &b) != nil {
		return ""
	}
	return b.Policy
}
