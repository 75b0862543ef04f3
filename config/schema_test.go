package config_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"agent-stop-and-go/config"
)

const schemaFile = "agent.schema.json"

func TestTheSchemaFileIsInStepWithTheTypes(t *testing.T) {
	want, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run go test ./config -update (-want +got):\n%s", diff)
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaFile, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// checkSchema validates YAML text as an editor does.
func checkSchema(t *testing.T, schema *jsonschema.Schema, text []byte) error {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(doc)
}

// serverFiles are for tool servers and for web, whose packages test them.
var serverFiles = []string{"mcp-filesystem.yaml", "mcp-commands.yaml", "web.yaml"}

// shipped returns the shipped files of agents.
func shipped(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*.yaml", "examples/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		files = append(files, found...)
	}
	return slices.DeleteFunc(files, func(file string) bool { return slices.Contains(serverFiles, file) })
}

// The first line of a shipped file names its schema. A new kind of file needs a case here.
func TestEveryShippedFileLoadsAndFitsItsSchema(t *testing.T) {
	files := shipped(t)
	schema := compileSchema(t)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			ref, ok := strings.CutPrefix(first, "# yaml-language-server: $schema=")
			if !ok || filepath.Join(filepath.Dir(file), ref) != schemaFile {
				t.Fatalf("first line %q names no known schema", first)
			}
			c, err := config.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			if warnings := c.Warnings(); len(warnings) > 0 {
				t.Error(warnings)
			}
			if err := checkSchema(t, schema, text); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheSchemaAgreesWithTheLoader(t *testing.T) {
	full, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		text string
		ok   bool
	}{
		"every key":         {string(full), true},
		"nothing":           {"{}", true},
		"unknown key":       {"nmae: x", false},
		"unknown below":     {"llm: {key: x}", false},
		"port range":        {"port: 0", false},
		"port type":         {`port: "1"`, false},
		"rounds":            {"max_tool_rounds: 1001", false},
		"duration":          {"request_timeout: 2m30s", true},
		"not a duration":    {"request_timeout: 30", false},
		"execution":         {"execution: fast", false},
		"node type":         {"agent: {type: x}", false},
		"server by url":     {"mcp_servers: [{name: a, url: 'http://x'}]", true},
		"server by command": {"mcp_servers: [{name: a, command: x, env: {A: b}}]", true},
		"server with both":  {"mcp_servers: [{name: a, command: x, url: 'http://x'}]", false},
		"server with none":  {"mcp_servers: [{name: a}]", false},
		"server, no name":   {"mcp_servers: [{command: x}]", false},
		"number in env":     {"mcp_servers: [{name: a, command: x, env: {A: 1}}]", false},
		"number in headers": {"mcp_servers: [{name: a, url: 'http://x', headers: {A: 1}}]", false},
		"transport":         {"mcp_servers: [{name: a, url: 'http://x', transport: ws}]", false},
		"server timeout":    {"mcp_servers: [{name: a, command: x, timeout: 5}]", false},
		"tools as a list":   {"mcp_servers: [{name: a, command: x, tools: [b]}]", false},
		"sampling alone":    {"mcp_servers: [{name: a, command: x, sampling: {}}]", true},
		"sampling nothing":  {"mcp_servers: [{name: a, command: x, sampling: {max_tokens: 0}}]", false},
		"a model":           {"models: {a.b: {provider: google, model: g}}", true},
		"model, bad name":   {"models: {'a:b': {provider: google, model: g}}", false},
		"model, long name":  {"models: {" + strings.Repeat("a", 65) + ": {provider: google, model: g}}", false},
		"model, provider":   {"models: {a: {provider: demo, model: rules}}", false},
		"model, none":       {"models: {a: {provider: google}}", false},
		"model, unknown":    {"models: {a: {provider: google, model: g, key: x}}", false},
		"models as a list":  {"models: [a]", false},
		"auth none":         {"auth: none", true},
		"auth open":         {"auth: open", false},
		"auth empty":        {"auth: []", false},
		"auth keys":         {"auth: [{type: keys}]", true},
		"auth without type": {"auth: [{file: x}]", false},
		"auth type":         {"auth: [{type: ldap}]", false},
		"auth grant":        {"auth: [{type: proxy, from: [10.0.0.1], header: X, grant: {a: read}}]", false},
		"warm":              {"models: {a: {provider: google, model: g, temperature: 0.5, price: {input: 1, cached: 0}}}", true},
		"too warm":          {"models: {a: {provider: google, model: g, temperature: 2.5}}", false},
		"negative price":    {"models: {a: {provider: google, model: g, price: {cached: -1}}}", false},
		"small window":      {"models: {a: {provider: google, model: g, context_window: 255}}", false},
		"limits":            {"limits: {turn: {cost: 0.5, time: 5m}, conversation: {calls: 1}}", true},
		"no cost":           {"limits: {turn: {cost: 0}}", false},
		"no calls":          {"limits: {turn: {calls: 0}}", false},
		"compaction":        {"llm: {compaction: none}", false},
		"output schema":     {"agent: {output_schema: {type: object, properties: {a: {}}}}", true},
		"schema as a text":  {"agent: {output_schema: text}", false},
		"a2a without url":   {"a2a: [{name: a}]", false},
		"output key":        {"agent: {output_key: 'a b'}", false},
		"empty name":        {"name: ''", false},
		"a2a name":          {"a2a: [{name: a b, url: 'http://x'}]", false},
		"a2a long name":     {"a2a: [{name: " + strings.Repeat("a", 61) + ", url: 'http://x'}]", false},
		"a2a longest name":  {"a2a: [{name: " + strings.Repeat("a", 60) + ", url: 'http://x'}]", true},
		"node rounds":       {"agent: {max_tool_rounds: 0}", false},
		"approval":          {"agent: {approval: 'always'}", false},
		"on reject":         {"agent: {on_reject: 'ask'}", false},
		"node timeout":      {"agent: {timeout: 5m}", true},
		"no tools":          {"agent: {tools: []}", true},
		"number in tools":   {"agent: {tools: [1]}", false},
	}
	schema := compileSchema(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := checkSchema(t, schema, []byte(tt.text)); (err == nil) != tt.ok {
				t.Errorf("schema: %v", err)
			}
			if _, err := config.Parse("f.yaml", []byte(tt.text)); (err == nil) != tt.ok {
				t.Errorf("loader: %v", err)
			}
		})
	}
}

func TestEveryKeyHasADescription(t *testing.T) {
	data, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Schema     string `json:"$schema"`
		Properties map[string]struct{ Description string }
		Defs       map[string]struct {
			Properties           map[string]struct{ Description string }
			AdditionalProperties *bool
		} `json:"$defs"`
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Schema != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("draft %q", schema.Schema)
	}
	for key, p := range schema.Properties {
		if p.Description == "" {
			t.Errorf("%s has no description", key)
		}
	}
	for name, def := range schema.Defs {
		if def.AdditionalProperties == nil || *def.AdditionalProperties {
			t.Errorf("%s allows unknown keys", name)
		}
		for key, p := range def.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s has no description", name, key)
			}
		}
	}
}
