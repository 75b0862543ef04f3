package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"agent-stop-and-go/workflows/contract/verdict"
)

// maxBefore is how many earlier calls a condition sees. After more of them it sees none, and asks.
const maxBefore = 1000

// errNotKnown is the error of a variable that is not known of a call.
var errNotKnown = errors.New("is not known")

// activation returns the values of the variables. What is not known is absent, so that a
// condition that needs it fails.
func activation(c verdict.Call) map[string]any {
	values := map[string]any{
		"tool": c.Tool, "server": c.Server, "node": c.Node, "time": c.Time,
		"annotations": map[string]any{"read_only": c.ReadOnly, "destructive": c.Destructive, "idempotent": c.Idempotent},
		"reply":       earlierCalls(c.Reply),
	}
	if c.Before != nil && len(c.Before) <= maxBefore {
		values["before"] = earlierCalls(c.Before)
	}
	if args, err := arguments(c.Arguments, c.Names); err == nil {
		values["args"] = args
	}
	for name, facts := range c.ServerFacts {
		values[name] = facts
	}
	if f := c.Facts; f != nil {
		if f.Caller != nil {
			values["caller"] = callerValue(*f.Caller)
		}
		values["chain"] = list(f.Chain)
		values["usage"] = map[string]any{
			"input_tokens": f.Usage.InputTokens, "output_tokens": f.Usage.OutputTokens, "calls": f.Usage.Calls,
			"cost": float64(f.Usage.CostNanos) / 1e9,
		}
	}
	return values
}

func callerValue(c verdict.Caller) map[string]any {
	return map[string]any{"subject": c.Subject, "issuer": c.Issuer, "channel": c.Channel, "groups": list(c.Groups), "scopes": list(c.Scopes)}
}

func earlierCalls(calls []verdict.Earlier) []any {
	out := []any{}
	for _, c := range calls {
		out = append(out, map[string]any{"tool": c.Tool, "failed": c.Failed})
	}
	return out
}

// list returns a list that is never null.
func list(texts []string) []string { return append([]string{}, texts...) }

// arguments parses the arguments of a call. A whole number is an int64 where it fits, else a
// float64. An object that names a member twice has no values, nor one in which a member differs
// from another, or from a name of the tool, in case only: programs disagree on which counts.
func arguments(raw json.RawMessage, names []string) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := value(dec)
	if err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read the arguments: more than one value")
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("read the arguments: not an object")
	}
	for key := range object {
		for _, name := range names {
			if key != name && strings.EqualFold(key, name) {
				return nil, fmt.Errorf("%q is not %q", key, name)
			}
		}
	}
	return object, nil
}

func value(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			return object(dec)
		}
		return array(dec)
	case json.Number:
		return number(t)
	}
	return token, nil
}

func object(dec *json.Decoder) (map[string]any, error) {
	out := map[string]any{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		for other := range out {
			if strings.EqualFold(key, other) {
				return nil, fmt.Errorf("%q is there twice", key)
			}
		}
		if out[key], err = value(dec); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return out, err
}

func array(dec *json.Decoder) ([]any, error) {
	out := []any{}
	for dec.More() {
		v, err := value(dec)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := dec.Token()
	return out, err
}

func number(n json.Number) (any, error) {
	if !strings.ContainsAny(n.String(), ".eE") {
		if i, err := n.Int64(); err == nil {
			return i, nil
		}
	}
	return n.Float64()
}

func member(target any, field string) (any, bool) {
	object, _ := target.(map[string]any)
	v, ok := object[field]
	return v, ok
}

func memberOr(target any, field string) (any, error) {
	if v, ok := member(target, field); ok {
		return v, nil
	}
	return nil, fmt.Errorf("%s %w", field, errNotKnown)
}
