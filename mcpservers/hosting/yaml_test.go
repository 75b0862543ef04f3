package hosting_test

import (
	"errors"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"

	"gopkg.in/yaml.v3"
)

type fileOfThings struct {
	hosting.Settings `yaml:",inline"`
	Things           []thing `yaml:"things"`
}

type thing struct {
	Name string   `yaml:"name"`
	Tags []string `yaml:"tags"`
}

func TestYAMLErrorsUseTheTermsOfTheFile(t *testing.T) {
	keys := map[string]string{"hosting_test.fileOfThings": "host, things", "hosting_test.thing": "name, tags"}
	for text, want := range map[string]string{
		"hots: a\nprot: 1\n":       `line 1: unknown key "hots", allowed: host, things; line 2: unknown key "prot"`,
		"things: [{nam: a}]\n":     `line 1: unknown key "nam", allowed: name, tags`,
		"things: {name: a}\n":      "line 1: a mapping is not a list of mappings, each of name, tags",
		"things: [a]\n":            "line 1: `a` is not a mapping of name, tags",
		"things: [{tags: one}]\n":  "line 1: `one` is not a list such as [one, two]",
		"port: many\n":             "line 1: `many` is not a whole number",
		"host: [a]\n":              "line 1: a list is not a text",
		"\nsession_idle: tomorrow": "line 2: `tomorrow` is not a time such as 30m or 1h",
	} {
		var file fileOfThings
		decoder := yaml.NewDecoder(strings.NewReader(text))
		decoder.KnownFields(true)
		if err := hosting.ExplainYAML(decoder.Decode(&file), keys); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if other := errors.New("other"); hosting.ExplainYAML(other, nil) != other || hosting.ExplainYAML(nil, nil) != nil {
		t.Error("other errors do not stay as they are")
	}
}
