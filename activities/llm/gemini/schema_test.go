package gemini

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlainSchema(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"what is plain stays", `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"default":3,"description":"how many"}},"required":["n"]}`,
			`{"type":"object","properties":{"n":{"type":"integer","minimum":1,"default":3,"description":"how many"}},"required":["n"]}`},
		{"unknown keywords are left out", `{"$schema":"x","type":"object","additionalProperties":false,"properties":{"a":{"type":"string","examples":["x"],"not":{}}}}`,
			`{"type":"object","properties":{"a":{"type":"string"}}}`},
		{"references are replaced", `{"type":"object","$defs":{"a/b":{"type":"string","description":"d"}},"properties":{"x":{"$ref":"#/$defs/a~1b"},"y":{"$ref":"#/$defs/a~1b","description":"own"}}}`,
			`{"type":"object","properties":{"x":{"type":"string","description":"d"},"y":{"type":"string","description":"own"}}}`},
		{"a reference to nowhere is anything", `{"type":"object","properties":{"x":{"$ref":"http://elsewhere"}}}`,
			`{"type":"object","properties":{"x":{"type":"string"}}}`},
		{"a type that may be null is nullable", `{"type":"object","properties":{"x":{"type":["string","null"]}}}`,
			`{"type":"object","properties":{"x":{"type":"string","nullable":true}}}`},
		{"a choice that may be null is nullable", `{"type":"object","properties":{"x":{"anyOf":[{"$ref":"#/$defs/d"},{"type":"null"}]},"y":{"anyOf":[{"type":"string"},{"type":"number"},{"type":"null"}]}},"$defs":{"d":{"type":"string"}}}`,
			`{"type":"object","properties":{"x":{"type":"string","nullable":true},"y":{"anyOf":[{"type":"string"},{"type":"number"}],"nullable":true}}}`},
		{"several types are alternatives", `{"type":"object","properties":{"x":{"type":["string","integer"]}}}`,
			`{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`},
		{"oneOf becomes anyOf", `{"type":"object","properties":{"x":{"oneOf":[{"type":"string"},{"const":3}]}}}`,
			`{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{"enum":["3"],"type":"string"}]}}}`},
		{"an enum is of texts", `{"type":"object","properties":{"x":{"type":"integer","enum":[1,2,null]}}}`,
			`{"type":"object","properties":{"x":{"type":"string","enum":["1","2"]}}}`},
		{"the parts of allOf are merged", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"number"}},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}},"required":["a","b"]}`},
		{"items are plain too", `{"type":"object","properties":{"x":{"type":"array","items":{"$ref":"#/$defs/i"}}},"$defs":{"i":{"type":"boolean","$comment":"c"}}}`,
			`{"type":"object","properties":{"x":{"type":"array","items":{"type":"boolean"}}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := plainSchema(json.RawMessage(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			var a, b any
			if err := json.Unmarshal(got, &a); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.want), &b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(b, a); diff != "" {
				t.Errorf("%s (-want +got):\n%s", got, diff)
			}
		})
	}
}

func TestASchemaThatContainsItselfEnds(t *testing.T) {
	got, err := plainSchema(json.RawMessage(`{"type":"object","properties":{"child":{"$ref":"#"},"loop":{"$ref":"#/properties/loop"}}}`))
	if err != nil || len(got) > 64<<10 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := plainSchema(json.RawMessage(`[]`)); err == nil {
		t.Error("a list was taken for a schema")
	}
}

func TestASchemaThatFansOutEnds(t *testing.T) {
	schema := `{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"},"d":{"$ref":"#"},"e":{"$ref":"#"},` +
		`"f":{"$ref":"#"},"g":{"$ref":"#"},"h":{"$ref":"#"},"name":{"type":"string"}},"allOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}],` +
		`"$defs":{"x":{"allOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}]}}}`
	first, err := plainSchema(json.RawMessage(schema))
	if err != nil || len(first) > 1<<20 {
		t.Fatalf("%d bytes, %v", len(first), err)
	}
	var got struct {
		Properties map[string]struct{ Type string }
	}
	if err := json.Unmarshal(first, &got); err != nil || got.Properties["name"].Type != "string" {
		t.Errorf("got %v, %v", got, err)
	}
	if again, _ := plainSchema(json.RawMessage(schema)); string(again) != string(first) {
		t.Error("the schema is not always written the same")
	}
}
