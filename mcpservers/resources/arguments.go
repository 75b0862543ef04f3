package resources

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

// arguments holds the raw JSON of each argument, because decoding a number to
// float64 would change integers beyond 2^53. An argument that is null counts as
// absent.
type arguments map[string]json.RawMessage

// parseArguments refuses names outside allowed: a mistyped "patern" must not
// quietly widen what is listed or removed.
func parseArguments(request mcp.CallToolRequest, allowed ...string) (arguments, error) {
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

// text returns a string argument, "" when it is absent.
func (a arguments) text(name string) (string, error) {
	raw, ok := a[name]
	if !ok {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("%s must be a string", name)
	}
	return s, nil
}

// requiredText is text, refusing what is absent or blank.
func (a arguments) requiredText(name string) (string, error) {
	s, err := a.text(name)
	if err == nil && strings.TrimSpace(s) == "" {
		err = fmt.Errorf("%s is required", name)
	}
	return s, err
}

// requiredInteger accepts a JSON number without a fraction: 5 and 5.0, not "5".
func (a arguments) requiredInteger(name string) (int64, error) {
	raw, ok := a[name]
	if !ok {
		return 0, fmt.Errorf("%s is required", name)
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, nil
	}
	// Beyond 2^53 a float no longer tells which integer was meant.
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 || !bytes.ContainsAny(raw, ".eE") {
		return 0, fmt.Errorf("%s must be an integer", name)
	}
	return int64(f), nil
}
