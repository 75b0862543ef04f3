package hosting

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

var (
	unknownKey = regexp.MustCompile(`field (\S+) not found in type (\S+)`)
	wrongType  = regexp.MustCompile("cannot unmarshal !!(\\w+)(?: (`.*`))? into (\\S+)")
)

// typeNames describes the types of settings in terms of YAML.
var typeNames = map[string]string{
	"int": "a whole number", "int64": "a whole number", "string": "a text", "bool": "true or false",
	"[]string": "a list such as [one, two]", "time.Duration": "a time such as 30m or 1h",
}

// LoadYAML reads a file into config, which holds the defaults, and validates the result. An
// unknown key is an error. One error reports all wrong lines. keys are the allowed keys, by the
// Go type in yaml's errors.
func LoadYAML[C interface{ Validate() error }](path string, config C, keys map[string]string) (C, error) {
	var none C
	file, err := os.Open(path)
	if err != nil {
		return none, fmt.Errorf("read config: %w", err)
	}
	defer file.Close()
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	if err := decoder.Decode(&config); err != nil && !errors.Is(err, io.EOF) {
		return none, fmt.Errorf("parse config %s: %w", path, ExplainYAML(err, keys))
	}
	if err := config.Validate(); err != nil {
		return none, fmt.Errorf("config %s: %w", path, err)
	}
	return config, nil
}

// ExplainYAML replaces the Go types in yaml's errors by terms of the file. keys are the allowed
// keys, by the Go type in yaml's errors.
func ExplainYAML(err error, keys map[string]string) error {
	wrong := new(yaml.TypeError)
	if !errors.As(err, &wrong) {
		return err
	}
	lines := make([]string, len(wrong.Errors))
	listed := map[string]bool{}
	for i, line := range wrong.Errors {
		lines[i] = line
		if m := unknownKey.FindStringSubmatch(line); m != nil {
			text := fmt.Sprintf("unknown key %q", m[1])
			if !listed[m[2]] {
				text += ", allowed: " + keys[m[2]]
			}
			listed[m[2]] = true
			lines[i] = strings.Replace(line, m[0], text, 1)
		}
		if m := wrongType.FindStringSubmatch(line); m != nil {
			lines[i] = strings.Replace(line, m[0], describeMismatch(m[1], m[2], m[3], keys), 1)
		}
	}
	return errors.New(strings.Join(lines, "; "))
}

// describeMismatch describes the actual and the expected type.
func describeMismatch(tag, value, goType string, keys map[string]string) string {
	if value == "" {
		value = map[string]string{"map": "a mapping", "seq": "a list"}[tag]
	}
	want := typeNames[goType]
	if fields, ok := keys[strings.TrimPrefix(goType, "[]")]; ok {
		want = "a mapping of " + fields
		if strings.HasPrefix(goType, "[]") {
			want = "a list of mappings, each of " + fields
		}
	}
	if want == "" {
		want = goType
	}
	return fmt.Sprintf("%s is not %s", value, want)
}
