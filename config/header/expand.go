package header

import (
	"fmt"
	"maps"
	"slices"

	"agent-stop-and-go/config/secrets"
)

// Expand returns headers with every ${NAME} replaced by that environment variable. A variable that
// is not set is an error that names it; an invalid value is one that does not contain it. whose
// are the headers.
func Expand(whose string, headers map[string]string, getenv func(string) string) (map[string]string, error) {
	out, err := secrets.Expand(whose, "headers", headers, getenv)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if !IsValue(out[name]) {
			return nil, fmt.Errorf("%s: headers.%s: the value has a line break or another control character in it", whose, name)
		}
	}
	return out, nil
}
