package hosting

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

// Arguments holds the raw JSON of each argument of a call, because decoding a number to float64
// would change integers beyond 2^53. A null argument counts as absent.
type Arguments map[string]json.RawMessage

// ParseArguments refuses names outside allowed, so that a misspelled name such as "glob_fliter"
// cannot widen a search or a change.
func ParseArguments(request mcp.CallToolRequest, allowed ...string) (Arguments, error) {
	args := Arguments{}
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

// Has reports whether at least one of names is present.
func (a Arguments) Has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := a[name]; return ok })
}

// Text returns a string argument, or otherwise if it is absent or empty.
func (a Arguments) Text(name, otherwise string) (string, error) {
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

// Required is Text, but an absent or empty argument is an error.
func (a Arguments) Required(name string) (string, error) {
	s, err := a.Text(name, "")
	if err == nil && s == "" {
		err = fmt.Errorf("%s is required", name)
	}
	return s, err
}

// Integer returns a JSON number without a fraction: 5 and 5.0 but not "5". If the argument is
// absent it returns otherwise.
func (a Arguments) Integer(name string, otherwise int64) (int64, error) {
	raw, ok := a[name]
	if !ok {
		return otherwise, nil
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, nil
	}
	// Beyond 2^53 a float does not identify the integer.
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, fmt.Errorf("%s must be an integer", name)
	}
	return int64(f), nil
}

// Boolean returns a boolean argument, or false if it is absent.
func (a Arguments) Boolean(name string) (bool, error) {
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
