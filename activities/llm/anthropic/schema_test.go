package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClosedSchema(t *testing.T) {
	in := func(property string) string { return `{"type":"object","properties":{"x":` + property + `}}` }
	out := func(property string) string {
		return `{"type":"object","additionalProperties":false,"properties":{"x":` + property + `}}`
	}
	for name, c := range map[string]struct{ schema, want string }{
		"limits are left out":         {in(`{"type":"string","maxLength":3,"pattern":"a","format":"email","description":"d"}`), out(`{"type":"string","format":"email","description":"d"}`)},
		"unknown formats too":         {in(`{"type":"integer","format":"int64","default":9007199254740993}`), out(`{"type":"integer","default":9007199254740993}`)},
		"objects are closed":          {in(`{"type":["object","null"],"properties":{"y":{"type":"null"}}}`), out(`{"type":["object","null"],"additionalProperties":false,"properties":{"y":{"type":"null"}}}`)},
		"objects without a type":      {in(`{"properties":{"y":{"type":"null"}}}`), out(`{"type":"object","additionalProperties":false,"properties":{"y":{"type":"null"}}}`)},
		"no properties at all":        {in(`{"type":"object","additionalProperties":false}`), out(`{"type":"object","additionalProperties":false,"properties":{}}`)},
		"enum and const":              {in(`{"anyOf":[{"enum":[1,"a",null]},{"const":2}]}`), out(`{"anyOf":[{"enum":[1,"a",null]},{"const":2}]}`)},
		"oneOf becomes anyOf":         {in(`{"oneOf":[{"type":"string"},{"type":"null"}]}`), out(`{"anyOf":[{"type":"string"},{"type":"null"}]}`)},
		"lists":                       {in(`{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":3}`), out(`{"type":"array","items":{"type":"string"},"minItems":1}`)},
		"long lists":                  {in(`{"type":"array","items":{"type":"string"},"minItems":2}`), out(`{"type":"array","items":{"type":"string"}}`)},
		"references stay":             {`{"type":"object","properties":{"x":{"$ref":"#/$defs/a","title":"t"},"y":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string","minLength":1}}}`, `{"type":"object","additionalProperties":false,"properties":{"x":{"$ref":"#/$defs/a"},"y":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`},
		"anything":                    {in(`{}`), ""},
		"true":                        {in(`true`), ""},
		"any object":                  {in(`{"type":"object"}`), ""},
		"any list":                    {in(`{"type":"array"}`), ""},
		"an open object":              {in(`{"type":"object","properties":{"y":{"type":"null"}},"additionalProperties":true}`), ""},
		"a map":                       {in(`{"type":"object","additionalProperties":{"type":"string"}}`), ""},
		"properties by pattern":       {in(`{"type":"object","properties":{"y":{"type":"null"}},"patternProperties":{"a":{}}}`), ""},
		"allOf":                       {in(`{"allOf":[{"type":"string"}]}`), ""},
		"alternatives beside":         {in(`{"properties":{"y":{"type":"null"}},"anyOf":[{"type":"object","properties":{"z":{"type":"null"}}}]}`), ""},
		"both kinds of alternatives":  {in(`{"anyOf":[{"type":"null"}],"oneOf":[{"type":"null"}]}`), ""},
		"an unknown reference":        {in(`{"$ref":"http://elsewhere"}`), ""},
		"a schema that has itself":    {in(`{"$ref":"#"}`), ""},
		"definitions in a circle":     {`{"type":"object","properties":{"x":{"type":"null"}},"$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/b"}},"b":{"$ref":"#/$defs/a"}}}`, ""},
		"no object":                   {`{"type":"string"}`, ""},
		"no JSON":                     {`{`, ""},
		"a schema of a hundred pages": {`{"type":"object","properties":{` + strings.TrimSuffix(many(3000), ",") + `}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := closedSchema(json.RawMessage(c.schema))
			if c.want == "" || got == nil {
				if c.want != "" || got != nil {
					t.Errorf("got %s, want %s", got, c.want)
				}
				return
			}
			if diff := cmp.Diff(numbers(t, c.want), numbers(t, string(got))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d":{"type":"null"},`, i)
	}
	return b.String()
}

func numbers(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
