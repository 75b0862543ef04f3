package gateway

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// membersOf are the names by which JSON knows the fields of a struct.
func membersOf(v any) []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.Indirect(reflect.ValueOf(v)).Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// checkMembers refuses an object with members that mean nothing here: what somebody
// wrote must not be dropped in silence. Names may be in any case, as in decode.
func checkMembers(data []byte, known []string) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil { // no object, for others to refuse
		return nil
	}
	unknown := []string{}
	for name := range members {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf(`unknown member "%s"%s`, printable(unknown[0]), suggestion(unknown[0], known))
}

func suggestion(name string, known []string) string {
	nearest, least := "", 4
	for _, k := range known {
		if d := distance(strings.ToLower(name), k); d < least && d < len(k) {
			nearest, least = k, d
		}
	}
	if nearest != "" {
		return `: did you mean "` + nearest + `"?`
	}
	return `; known here: "` + strings.Join(known, `", "`) + `"`
}

const maxCompared = 64

// distance is how many letters to insert, drop or change (Levenshtein). Long names
// are cut: they are no slips.
func distance(a, b string) int {
	a = a[:min(len(a), maxCompared)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
