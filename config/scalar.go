package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"agent-stop-and-go/workflows/contract/duration"
)

var durationType = reflect.TypeFor[time.Duration]()

// scalar decodes one value of the right YAML type: a number in place of a text is a mistake.
func (d decoder) scalar(path string, n *yaml.Node, line int, v reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		d.atLine(line, path, "must be %s, not a list or mapping", d.allowed(v))
		return
	}
	if !slices.Contains(scalarTags[v.Kind()], n.ShortTag()) || setScalar(v, n.Value) != nil {
		d.wrongType(path, n, line, v)
		return
	}
	switch v.Kind() {
	case reflect.Int:
		checkRange(d.report, path, d.rules, int(v.Int()))
	case reflect.Float64:
		checkNumber(d.report, path, d.rules, v.Float())
	}
}

// scalarTags are the YAML types that a value may have. A duration is an Int64.
var scalarTags = map[reflect.Kind][]string{
	reflect.String: {"!!str", "!!timestamp"}, reflect.Int64: {"!!str"}, reflect.Int: {"!!int"},
	reflect.Float64: {"!!float", "!!int"}, reflect.Bool: {"!!bool"},
}

func (d decoder) wrongType(path string, n *yaml.Node, line int, v reflect.Value) {
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
	switch {
	case v.Kind() == reflect.String && len(d.rules["enum"]) == 0:
		d.atLine(line, path, "must be a text; put it in quotes") // not shown: it may be a secret
	case quoted && v.Type() != durationType:
		d.atLine(line, path, "%s: must be %s, without quotes", quote(n.Value), d.allowed(v))
	default:
		d.atLine(line, path, "%s: must be %s", quote(n.Value), d.allowed(v))
	}
}

// allowed describes the values that fit the field.
func (d decoder) allowed(v reflect.Value) string {
	low, hasLow := d.rules.one("minimum")
	high, hasHigh := d.rules.one("maximum")
	switch {
	case len(d.rules["enum"]) > 0:
		return either(d.rules["enum"])
	case v.Kind() == reflect.Float64 && hasLow && hasHigh:
		return "a number between " + low + " and " + high
	case v.Kind() == reflect.Float64:
		return "a number"
	case hasLow && hasHigh:
		return "a whole number between " + low + " and " + high
	case v.Type() == durationType:
		return "a duration such as 30s, 5m or 90d"
	case v.Kind() == reflect.Int:
		return "a whole number"
	case v.Kind() == reflect.Bool:
		return "true or false"
	}
	return "a text"
}

// setScalar also parses the defaults in struct tags.
func setScalar(v reflect.Value, text string) error {
	switch {
	case v.Type() == durationType:
		duration, err := duration.Parse(text)
		v.SetInt(int64(duration))
		return err
	case v.Kind() == reflect.Int:
		i, err := strconv.ParseInt(text, 0, 32)
		v.SetInt(i)
		return err
	case v.Kind() == reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		v.SetFloat(f)
		return err
	case v.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(text)
		v.SetBool(b)
		return err
	case v.Kind() == reflect.String:
		v.SetString(text)
		return nil
	}
	return fmt.Errorf("no scalar fits a %s", v.Type())
}

// quote quotes a value, shortened.
func quote(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return strconv.Quote(s)
}
