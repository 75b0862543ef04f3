package api_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/openapi/api"
)

const nameless = head + `
paths:
  /a: {get: {responses: {}}, delete: {responses: {}}}
  /b: {post: {operationId: make, x-mcp: {name: build}, responses: {}}}
  /c: {get: {operationId: broken, x-mcp: {hint: {}}, responses: {}}}
`

func TestOperationsAreSelectedByTheNameOfTheirTool(t *testing.T) {
	got := operations(t, nameless, api.Selection{Exclude: api.Pattern{Operations: []string{"DELETE_*", "build", "broken"}}})
	if len(got) != 1 || got[0].Name != "GET_a" {
		t.Errorf("%+v", got)
	}
}

func TestEntriesThatMatchNothingAreErrors(t *testing.T) {
	d, err := load(t, nameless)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Operations(api.Selection{
		Include: api.Pattern{Paths: []string{"/**", "/z/*"}},
		Exclude: api.Pattern{Operations: []string{"broken", "delete_a"}, Tags: []string{"admin"}},
	}, "")
	want := `exclude.operations: "delete_a" matches no operation of the document
exclude.tags: "admin" matches no operation of the document
include.paths: "/z/*" matches no operation of the document`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestAReadThatChangesIsNotIdempotent(t *testing.T) {
	for text, want := range map[string]api.Hints{
		"get: {x-mcp: {hints: {readOnly: false}}":                                       {Destructive: true},
		"options: {x-mcp: {hints: {readOnly: false}}":                                   {Destructive: true},
		"get: {x-mcp: {hints: {readOnly: false, idempotent: true, destructive: false}}": {Idempotent: true},
		"put: {x-mcp: {hints: {readOnly: false}}":                                       {Destructive: true, Idempotent: true},
	} {
		if got := operations(t, head+"paths: {/x: {"+text+", responses: {}}}}", api.Selection{})[0].Hints; got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// What a schema cannot say here is left out, and never refuses arguments that the document allows.
func TestSchemasThatAreCutTakeWhatTheyShould(t *testing.T) {
	const node = `Node: {type: object, required: [id], properties: {id: {type: integer}, next: {$ref: '#/components/schemas/Node'}}}`
	for _, test := range []struct{ schema, body, refused string }{
		{`{type: object, properties: {of: {oneOf: [{type: object, required: [a], properties: {a: {$ref: '#/components/schemas/Loop'}}}, {type: object, required: [a], properties: {a: {type: object, required: [other]}}}]}}}`,
			`{"of":{"a":{"other":{"other":1}}}}`, `{"of":{"b":1}}`},
		{`{not: {properties: {x: {type: string, pattern: '(?=a)b'}}, required: [x]}}`, `{"x":"y"}`, ``},
		{`{not: {type: string}}`, `{"x":"y"}`, `"x"`},
		{`{oneOf: [{type: string, pattern: '^(?!a)'}, {type: string, maxLength: 3}]}`, `"abc"`, `1`},
		{`{oneOf: [{type: string}, {type: string, maxLength: 3}]}`, `"abcd"`, `"abc"`},
		{`{type: object, patternProperties: {'^x-': {type: string}}, additionalProperties: false}`, `{"x-a":"b"}`, `{"y":1}`},
		{`{type: object, patternProperties: {'^x-': {type: string}}, additionalProperties: false}`, `{}`, `{"x-a":1}`},
		{`{type: object, patternProperties: {'^(?!y)': {type: string}}, additionalProperties: false}`, `{"x-a":"b"}`, ``},
		{`{type: array, minContains: 0, contains: {type: string}}`, `[1]`, ``},
		{`{$ref: '#/components/schemas/Maybe'}`, `{"self":{"self":null}}`, `{"self":1}`},
	} {
		text := strings.Replace(head, "3.0.3", "3.1.0", 1)
		if strings.Contains(test.schema, "Maybe") {
			text = head
		}
		text += "paths: {/x: {post: {requestBody: {required: true, content: {application/json: {schema: " + test.schema + "}}}, responses: {}}}}\n" +
			"components: {schemas: {" + node + ", Loop: {type: object, required: [other], properties: {other: {$ref: '#/components/schemas/Loop'}}}, " +
			"Maybe: {type: object, nullable: true, properties: {self: {$ref: '#/components/schemas/Maybe'}}}}}\n"
		o := operations(t, text, api.Selection{})[0]
		if _, err := o.Request(t.Context(), []byte(`{"body":`+test.body+`}`), api.Call{}); err != nil {
			t.Errorf("%s: %s: %v", test.schema, test.body, err)
		}
		if test.refused != "" {
			if _, err := o.Request(t.Context(), []byte(`{"body":`+test.refused+`}`), api.Call{}); err == nil {
				t.Errorf("%s: %s is taken", test.schema, test.refused)
			}
		}
	}
}
