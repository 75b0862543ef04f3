package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

// check returns what is wrong with a value.
func (p property) check(value json.RawMessage) error {
	if choices := p.choices(); len(choices) > 0 && p.Type != "array" {
		if !slices.ContainsFunc(choices, func(c json.RawMessage) bool { return same(c, value) }) {
			return fmt.Errorf("must be one of %s", list(choices))
		}
		return nil
	}
	switch p.Type {
	case "string":
		return p.checkString(value)
	case "number", "integer":
		return p.checkNumber(value)
	case "boolean":
		var b *bool
		if json.Unmarshal(value, &b) != nil || b == nil {
			return errors.New("must be true or false")
		}
	case "array":
		return p.checkArray(value)
	}
	return nil
}

func (p property) checkString(value json.RawMessage) error {
	var s *string
	if json.Unmarshal(value, &s) != nil || s == nil {
		return errors.New("must be a text")
	}
	switch n := utf8.RuneCountInString(*s); {
	case p.MinLength != nil && n < *p.MinLength:
		return fmt.Errorf("must have at least %d characters", *p.MinLength)
	case p.MaxLength != nil && n > *p.MaxLength:
		return fmt.Errorf("must have at most %d characters", *p.MaxLength)
	}
	return nil
}

func (p property) checkNumber(value json.RawMessage) error {
	n, err := number(value)
	switch {
	case err != nil:
		return errors.New("must be a number")
	case p.Type == "integer" && !n.IsInt():
		return errors.New("must be a whole number")
	case p.Minimum != nil && below(n, json.RawMessage(*p.Minimum)):
		return fmt.Errorf("must be at least %s", *p.Minimum)
	case p.Maximum != nil && below(n.Neg(n), negative(*p.Maximum)):
		return fmt.Errorf("must be at most %s", *p.Maximum)
	}
	return nil
}

// number reads a JSON number that is not absurdly large.
func number(value json.RawMessage) (*big.Rat, error) {
	var n json.Number
	if len(value) == 0 || value[0] == '"' || json.Unmarshal(value, &n) != nil || n == "" {
		return nil, errors.New("not a number")
	}
	f, err := n.Float64()
	mantissa, _, _ := strings.Cut(strings.ToLower(string(n)), "e")
	tiny := f == 0 && strings.ContainsAny(mantissa, "123456789")
	if err != nil || math.IsInf(f, 0) || tiny || len(n) > 400 {
		return nil, errors.New("not a number of a size that can be used")
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return nil, errors.New("not a number")
	}
	return r, nil
}

func below(n *big.Rat, limit json.RawMessage) bool {
	l, err := number(limit)
	return err == nil && n.Cmp(l) < 0
}

func negative(n json.Number) json.RawMessage {
	if rest, ok := strings.CutPrefix(string(n), "-"); ok {
		return json.RawMessage(rest)
	}
	return json.RawMessage("-" + string(n))
}

func (p property) checkArray(value json.RawMessage) error {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil || items == nil {
		return errors.New("must be a list")
	}
	switch {
	case p.MinItems != nil && len(items) < *p.MinItems:
		return fmt.Errorf("must have at least %d entries", *p.MinItems)
	case p.MaxItems != nil && len(items) > *p.MaxItems:
		return fmt.Errorf("must have at most %d entries", *p.MaxItems)
	case p.Items == nil:
		return nil
	}
	for _, item := range items {
		if err := p.Items.check(item); err != nil {
			return fmt.Errorf("has an entry that %w", err)
		}
	}
	return nil
}
