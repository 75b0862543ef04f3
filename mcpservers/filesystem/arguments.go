package filesystem

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// arguments holds the raw JSON of each argument. One that is null counts as
// absent.
type arguments map[string]json.RawMessage

// parseArguments refuses names outside allowed: a mistyped "glob_fliter" must
// not quietly widen what is searched or changed.
func parseArguments(request mcp.CallToolRequest, allowed []string) (arguments, error) {
	args := arguments{}
	if err := request.BindArguments(&args); err != nil {
		return nil, errors.New("arguments must be a JSON object")
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.Contains(allowed, name) {
			return nil, fmt.Errorf("unknown argument %q, allowed: %s", name, strings.Join(allowed, ", "))
		}
	}
	maps.DeleteFunc(args, func(_ string, raw json.RawMessage) bool {
		return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
	})
	return args, nil
}

func (a arguments) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := a[name]; return ok })
}

// text returns a string argument, otherwise when it is absent or empty.
func (a arguments) text(name, otherwise string) (string, error) {
	raw, ok := a[name]
	if !ok {
		return otherwise, nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("%s must be a string", name)
	}
	if s == "" {
		return otherwise, nil
	}
	return s, nil
}

// required is text, refusing what is absent or empty.
func (a arguments) required(name string) (string, error) {
	s, err := a.text(name, "")
	if err == nil && s == "" {
		err = fmt.Errorf("%s is required", name)
	}
	return s, err
}

// integer returns a JSON number without a fraction that is not negative,
// otherwise when it is absent.
func (a arguments) integer(name string, otherwise int64) (int64, error) {
	raw, ok := a[name]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return 0, fmt.Errorf("%s must be an integer", name)
		}
		n = int64(f)
	}
	if n < 0 {
		return 0, fmt.Errorf("%s must not be negative", name)
	}
	return n, nil
}

// bounded is integer for a number that has a ceiling: absent, 0 and more than
// the ceiling give the nearest that is allowed.
func (a arguments) bounded(name string, otherwise, ceiling int) (int, error) {
	n, err := a.integer(name, 0)
	if n == 0 {
		n = int64(otherwise)
	}
	return int(min(n, int64(ceiling))), err
}

func (a arguments) boolean(name string) (bool, error) {
	raw, ok := a[name]
	if !ok {
		return false, nil
	}
	var b bool
	if err := json.Unmarshal(raw, &b); err != nil {
		return false, fmt.Errorf("%s must be true or false", name)
	}
	return b, nil
}
