package definition

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Parameter is one argument of a tool or prompt.
type Parameter struct {
	Name      string   `yaml:"name"`
	ShortFlag string   `yaml:"shortFlag"` // of go-go-mcp's command line; not used
	Type      string   `yaml:"type"`
	Help      string   `yaml:"help"`
	Default   any      `yaml:"default"`
	Choices   []string `yaml:"choices"`
	Required  bool     `yaml:"required"`
	// AllowDash lets a value for a script begin with "-".
	AllowDash bool `yaml:"allow-dash"`

	// Layer is the slug of the layer that has the parameter; "default" for flags and arguments.
	Layer string `yaml:"-"`
	// Hidden parameters are not offered to callers: they have their default.
	Hidden bool `yaml:"-"`
}

// Layer is a named group of parameters.
type Layer struct {
	Slug  string      `yaml:"slug"`
	Name  string      `yaml:"name"`
	Long  string      `yaml:"description"`
	Flags []Parameter `yaml:"flags"`
}

// DefaultLayer is the layer of flags and arguments.
const DefaultLayer = "default"

type kind int

const (
	text kind = iota
	date
	choice
	integer
	number
	boolean
	texts
	choices
	integers
	numbers
)

// kinds are the types of go-go-mcp that one value of JSON can have. "file" is a path there and here.
var kinds = map[string]kind{
	"": text, "string": text, "secret": text, "file": text, "date": date, "choice": choice,
	"int": integer, "integer": integer, "float": number, "number": number, "bool": boolean, "boolean": boolean,
	"stringList": texts, "fileList": texts, "choiceList": choices, "intList": integers, "floatList": numbers,
}

func (k kind) list() bool { return k >= texts }

// element is the kind of a list's elements.
func (k kind) element() kind {
	return map[kind]kind{texts: text, choices: choice, integers: integer, numbers: number}[k]
}

var (
	parameterName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	day           = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)
)

func (p *Parameter) kind() kind { return kinds[p.Type] }

// IsList reports whether a value is a list.
func (p *Parameter) IsList() bool { return p.kind().list() }

// IsBool reports whether a value is true or false.
func (p *Parameter) IsBool() bool { return p.kind() == boolean }

// hasValue reports whether a call always has a value.
func (p *Parameter) hasValue() bool {
	return p.Required || p.Default != nil || p.IsBool() || p.IsList()
}

// check completes what is only implied: a list of choices makes a string a choice, as it did in
// go-go-mcp.
func (p *Parameter) check() error {
	if !parameterName.MatchString(p.Name) {
		return fmt.Errorf("argument %q: a name has letters, digits, _ and -, begins with a letter and has at most 64 characters", p.Name)
	}
	k, known := kinds[p.Type]
	if !known {
		return fmt.Errorf("argument %s: type %q is not supported: use string, date, file, choice, int, float, bool, or stringList, choiceList, intList, floatList", p.Name, p.Type)
	}
	if len(p.Choices) > 0 && k == text {
		p.Type, k = "choice", choice
	}
	if len(p.Choices) > 0 && k == texts {
		p.Type, k = "choiceList", choices
	}
	if (k == choice || k == choices) != (len(p.Choices) > 0) {
		return fmt.Errorf("argument %s: choices belong to the types choice and choiceList, which need some", p.Name)
	}
	if p.Default != nil {
		if _, err := p.Set(p.Default); err != nil {
			return fmt.Errorf("argument %s: its default: %w", p.Name, err)
		}
	}
	return nil
}

// Schema is the JSON schema of a value.
func (p *Parameter) Schema() map[string]any {
	schema := schemaOf(p.kind(), p.Choices)
	if p.kind().list() {
		schema = map[string]any{"type": "array", "items": schemaOf(p.kind().element(), p.Choices), "maxItems": maxItems}
	}
	if help := strings.TrimSpace(p.Help); help != "" {
		schema["description"] = help
	}
	if p.Default != nil {
		schema["default"] = p.Default
	}
	return schema
}

func schemaOf(k kind, choices []string) map[string]any {
	switch k {
	case integer:
		return map[string]any{"type": "integer"}
	case number:
		return map[string]any{"type": "number"}
	case boolean:
		return map[string]any{"type": "boolean"}
	case choice:
		return map[string]any{"type": "string", "enum": choices}
	case date:
		return map[string]any{"type": "string", "pattern": day.String()}
	default:
		return map[string]any{"type": "string"}
	}
}

// Set checks a value of YAML or JSON and returns it as text. Whole numbers may be int, int64 or
// uint64, others float64.
func (p *Parameter) Set(value any) (Value, error) {
	if !p.IsList() {
		s, err := p.scalar(p.kind(), value)
		return Value{Texts: []string{s}, Raw: value, Given: true}, err
	}
	items, ok := value.([]any)
	if !ok {
		return Value{}, errors.New("it must be a list")
	}
	if len(items) > maxItems {
		return Value{}, fmt.Errorf("the list has %d values, at most %d are allowed", len(items), maxItems)
	}
	v := Value{Texts: []string{}, Raw: value, Given: true}
	for i, item := range items {
		s, err := p.scalar(p.kind().element(), item)
		if err != nil {
			return Value{}, fmt.Errorf("value %d: %w", i+1, err)
		}
		v.Texts = append(v.Texts, s)
	}
	return v, nil
}

func (p *Parameter) scalar(k kind, value any) (string, error) {
	switch k {
	case integer:
		return wholeNumber(value)
	case number:
		return anyNumber(value)
	case boolean:
		b, ok := value.(bool)
		if !ok {
			return "", errors.New("it must be true or false")
		}
		return strconv.FormatBool(b), nil
	}
	s, ok := value.(string)
	switch {
	case !ok:
		return "", errors.New("it must be a string")
	case strings.ContainsRune(s, 0):
		return "", errors.New("it contains a zero byte, which no program can be given")
	case len(s) > maxValue:
		return "", fmt.Errorf("it has %d bytes, at most %d are allowed", len(s), maxValue)
	case k == date && !day.MatchString(s):
		return "", errors.New("it must be a date such as 2026-01-31")
	case k == choice && !slices.Contains(p.Choices, s):
		return "", fmt.Errorf("it must be one of %s", strings.Join(p.Choices, ", "))
	}
	return s, nil
}

func wholeNumber(value any) (string, error) {
	switch n := value.(type) {
	case int:
		return strconv.Itoa(n), nil
	case int64:
		return strconv.FormatInt(n, 10), nil
	case uint64:
		return strconv.FormatUint(n, 10), nil
	case float64:
		if n == math.Trunc(n) && math.Abs(n) <= 1<<53 {
			return strconv.FormatInt(int64(n), 10), nil
		}
	}
	return "", errors.New("it must be a whole number")
}

func anyNumber(value any) (string, error) {
	if n, ok := value.(float64); ok && !math.IsInf(n, 0) && !math.IsNaN(n) {
		return strconv.FormatFloat(n, 'f', -1, 64), nil
	}
	s, err := wholeNumber(value)
	if err != nil {
		err = errors.New("it must be a number")
	}
	return s, err
}
