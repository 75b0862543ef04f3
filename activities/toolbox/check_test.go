package toolbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
)

const formSchema = `{
  "type": "object",
  "properties": {
    "name": {"type": "string"}, "count": {"type": "integer"}, "price": {"type": "number"},
    "open": {"type": "boolean"}, "colour": {"enum": ["red", "green"]},
    "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "either": {"type": ["string", "integer"]},
    "tags": {"type": "array", "items": {"type": "string"}},
    "where": {"$ref": "#/$defs/place"},
    "short": {"type": "string", "maxLength": 3}, "tens": {"type": "integer", "minimum": 10, "multipleOf": 10}
  },
  "required": ["name"],
  "additionalProperties": false,
  "$defs": {"place": {"type": "object", "properties": {"x": {"type": "number"}, "inner": {"$ref": "#/$defs/place"}}}}
}`

func schemaBox(t *testing.T, schemas map[string]string, opts toolbox.Options) *toolbox.Toolbox {
	t.Helper()
	m := server.NewMCPServer("schemas", "1")
	for name, schema := range schemas {
		m.AddTool(mcp.NewToolWithRawSchema(name, "", json.RawMessage(schema)), echo)
	}
	opts.Servers = []toolbox.Server{serve(t, m).server("web")}
	box := open(t, opts)
	if got := box.Tools(t.Context()); len(got) != len(schemas) {
		t.Fatalf("got %v", got)
	}
	return box
}

func TestCheck(t *testing.T) {
	box := schemaBox(t, map[string]string{"form": formSchema}, toolbox.Options{})
	tests := []struct{ name, args, fixed, problem string }{
		{"fitting arguments stay", `{"name":"a","count":1}`, `{"count":1,"name":"a"}`, ""},
		{"a number becomes text", `{"name":5}`, `{"name":"5"}`, ""},
		{"an integral number has no fraction", `{"name":5.0}`, `{"name":"5"}`, ""},
		{"a fraction stays", `{"name":1.50}`, `{"name":"1.5"}`, ""},
		{"an exponent is written out", `{"name":1e3}`, `{"name":"1000"}`, ""},
		{"large integers keep every digit", `{"name":12345678901234567890,"count":12345678901234567890}`, `{"count":12345678901234567890,"name":"12345678901234567890"}`, ""},
		{"an absurd exponent costs nothing", `{"name":1e999999999}`, `{"name":"1e999999999"}`, ""},
		{"a boolean becomes text", `{"name":true}`, `{"name":"true"}`, ""},
		{"text becomes an integer", `{"name":"a","count":"3"}`, `{"count":3,"name":"a"}`, ""},
		{"text becomes a number", `{"name":"a","price":" -1.5e2 "}`, `{"name":"a","price":-1.5e2}`, ""},
		{"text becomes a boolean", `{"name":"a","open":"true"}`, `{"name":"a","open":true}`, ""},
		{"optional integers too", `{"name":"a","maybe":"7"}`, `{"maybe":7,"name":"a"}`, ""},
		{"null where it is allowed", `{"name":"a","maybe":null}`, `{"maybe":null,"name":"a"}`, ""},
		{"a type that is allowed stays", `{"name":"a","either":"7"}`, `{"either":"7","name":"a"}`, ""},
		{"inside arrays", `{"name":"a","tags":[1,"b",false]}`, `{"name":"a","tags":["1","b","false"]}`, ""},
		{"inside objects, through references", `{"name":"a","where":{"inner":{"x":"1"}}}`, `{"name":"a","where":{"inner":{"x":1}}}`, ""},
		{"markup is not escaped", `{"name":"<a&b>"}`, `{"name":"<a&b>"}`, ""},

		{"missing", ``, "", `"name" is required: expected string`},
		{"null is no arguments", `null`, "", `"name" is required: expected string`},
		{"not an integer", `{"name":"a","count":"three"}`, "", `"count": expected integer, got string`},
		{"a fraction is not an integer", `{"name":"a","count":"3.5"}`, "", `"count": expected integer, got string`},
		{"a choice of types", `{"name":"a","maybe":"x"}`, "", `"maybe": expected integer or null, got string`},
		{"not in the list", `{"name":"a","colour":"blue"}`, "", `"colour": expected one of "red", "green"`},
		{"unknown property", `{"name":"a","nmae":"b"}`, "", `"nmae": there is no such property`},
		{"nested", `{"name":"a","where":{"x":"far"}}`, "", `"where.x": expected number, got string`},
		{"element", `{"name":"a","tags":["b",{}]}`, "", `"tags.1": expected string, got object`},
		{"too long", `{"name":"a","short":"abcd"}`, "", `"short": must have at most this many characters: 3, not 4`},
		{"too little", `{"name":"a","tens":0}`, "", `"tens": must be at least 10, not 0`},
		{"between", `{"name":"a","tens":15}`, "", `"tens": must be a multiple of 10, not 15`},
		{"several", `{"count":"x","open":"y"}`, "", `"name" is required: expected string; "count": expected integer, got string; "open": expected boolean, got string`},
		{"no object", `[]`, "", `the arguments must be a JSON object`},
		{"no JSON", `{"name":`, "", `the arguments are not valid JSON: unexpected EOF`},
		{"two values", `{} {}`, "", `the arguments are not valid JSON: more than one value`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fixed, problem := box.Check(context.Background(), "form", json.RawMessage(tt.args))
			if problem != tt.problem || (problem == "" && string(fixed) != tt.fixed) || (problem != "" && string(fixed) != tt.args) {
				t.Errorf("got %s, %q\nwant %s, %q", fixed, problem, tt.fixed, tt.problem)
			}
		})
	}
	if _, problem := box.Check(context.Background(), "nothing", nil); problem != `unknown tool "nothing"` {
		t.Errorf("got %q", problem)
	}
}

func TestSchemaThatIsNotValidIsNotChecked(t *testing.T) {
	log := &logBuffer{}
	box := schemaBox(t, map[string]string{
		"remote": `{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/schema.json"}}}`,
		"wrong":  `{"type":"object","properties":{"a":{"type":"strnig"},"b":{"type":"string"}}}`,
		"deep":   `{"$ref":"#"}`,
	}, toolbox.Options{Logger: log.logger()})
	for range 3 {
		for _, tool := range []string{"remote", "wrong"} {
			if fixed, problem := box.Check(context.Background(), tool, []byte(`{"a":1,"b":2}`)); problem != "" {
				t.Errorf("%s: got %s, %q", tool, fixed, problem)
			}
		}
	}
	box.Check(context.Background(), "deep", []byte(`{"a":{}}`))
	if n := strings.Count(log.String(), "its arguments are not checked"); n != 2 {
		t.Errorf("%d lines, want one a tool:\n%s", n, log)
	}
}

func TestSchemaThatFansOutIsChecked(t *testing.T) {
	chain := `"end":{"type":"integer"},"n0":{"anyOf":[{"$ref":"#/$defs/end"},{"$ref":"#/$defs/end"}]}`
	for i := range 30 {
		chain += fmt.Sprintf(`,"n%d":{"anyOf":[{"$ref":"#/$defs/n%d"},{"$ref":"#/$defs/n%[2]d"}]}`, i+1, i)
	}
	box := schemaBox(t, map[string]string{
		"loop": `{"type":"object","properties":{"v":{"$ref":"#/$defs/a"}},"required":["w"],"$defs":{` +
			`"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}}}`,
		"chain": `{"type":"object","properties":{"v":{"$ref":"#/$defs/n30"}},"$defs":{` + chain + `}}`,
	}, toolbox.Options{})
	done := make(chan string, 2)
	for _, tool := range []string{"loop", "chain"} {
		go func() {
			fixed, _ := box.Check(context.Background(), tool, []byte(`{"v":"x"}`))
			done <- string(fixed)
		}()
	}
	for range 2 {
		if got := within(t, "the check ends", done); got != `{"v":"x"}` {
			t.Errorf("got %s", got)
		}
	}
}

func TestManyArgumentsAreCoercedAsFewAre(t *testing.T) {
	box := schemaBox(t, map[string]string{"many": `{"type":"object","properties":{"list":{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}}`}, toolbox.Options{})
	list := strings.TrimSuffix(strings.Repeat(`"7",`, 20_000), ",")
	fixed, problem := box.Check(context.Background(), "many", []byte(`{"list":[`+list+`]}`))
	if want := `{"list":[` + strings.ReplaceAll(list, `"`, "") + `]}`; string(fixed) != want || problem != "" {
		t.Errorf("got %d bytes, %q", len(fixed), problem)
	}
}

func TestSchemasReachTheModelWhole(t *testing.T) {
	schema := `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
		"a":{"oneOf":[{"const":1},{"const":2}]},
		"nested":{"type":"object","properties":{"deep":{"type":"array","items":{"$ref":"#/$defs/item"},"minItems":1,"uniqueItems":true}},"required":["deep"]},
		"level":{"enum":["low","high"],"default":"low"},"count":{"type":["integer","null"],"default":5,"minimum":0,"exclusiveMaximum":10},
		"map":{"type":"object","additionalProperties":{"type":"number"},"patternProperties":{"^x-":{"type":"string"}}},
		"when":{"type":"string","format":"date-time","description":"Wann? <&>","examples":["2026-01-01T00:00:00Z"]}},
		"$defs":{"item":{"type":"object","properties":{"child":{"$ref":"#/$defs/item"},"big":{"const":12345678901234567890}}}},
		"dependentRequired":{"a":["level"]},"if":{"required":["a"]},"then":{"required":["level"]},
		"oneOf":[{"required":["a"]},{"required":["b"]}],"x-own":true,"required":[],"additionalProperties":false}`
	box := schemaBox(t, map[string]string{"whole": schema}, toolbox.Options{})
	got, err := toolbox.CanonicalArguments(box.Tools(t.Context())[0].InputSchema)
	want, _ := toolbox.CanonicalArguments([]byte(schema))
	if err != nil || string(got) != string(want) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestDigest(t *testing.T) {
	same := []string{`{"b":1.10,"a":{"d":[1,2],"c":null}}`, ` { "a" : {"c":null,"d":[1, 2]}, "b":1.10 }`}
	one, err := toolbox.Digest([]byte(same[0]))
	two, err2 := toolbox.Digest([]byte(same[1]))
	if err != nil || err2 != nil || one != two || len(one) != 64 {
		t.Errorf("got %s %s, %v %v", one, two, err, err2)
	}
	if other, _ := toolbox.Digest([]byte(strings.Replace(same[0], "1.10", "1.1", 1))); other == one {
		t.Error("numbers are not kept as they are written")
	}
	empty, _ := toolbox.Digest(nil)
	null, _ := toolbox.Digest([]byte("null"))
	object, _ := toolbox.Digest([]byte("{}"))
	if empty != null || null != object {
		t.Errorf("got %s %s %s", empty, null, object)
	}
}

func TestResults(t *testing.T) {
	structured := &mcp.CallToolResult{StructuredContent: map[string]any{"a": 1}, Content: []mcp.Content{}}
	tests := []struct {
		name   string
		result *mcp.CallToolResult
		want   string
	}{
		{"every text block", &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent("a"), mcp.NewTextContent("b")}}, "a\nb"},
		{"an image is described", &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent("a"), mcp.NewImageContent("aGVsbG8=", "image/png")}}, "a\n" + `{"type":"image","mimeType":"image/png","size":5}`},
		{"a sound is described", &mcp.CallToolResult{Content: []mcp.Content{mcp.NewAudioContent("aGVsbG8h", "audio/wav")}}, `{"type":"audio","mimeType":"audio/wav","size":6}`},
		{"a link is described", &mcp.CallToolResult{Content: []mcp.Content{mcp.NewResourceLink("file:///a", "a", "", "text/plain")}}, `{"type":"resource_link","mimeType":"text/plain","name":"a","uri":"file:///a"}`},
		{"an embedded file is described", &mcp.CallToolResult{Content: []mcp.Content{mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: "file:///b", MIMEType: "image/png", Blob: "aGVsbG8="})}},
			`{"type":"resource","mimeType":"image/png","uri":"file:///b","size":5}`},
		{"structured content is not told twice", &mcp.CallToolResult{StructuredContent: map[string]any{"a": 1}, Content: []mcp.Content{mcp.NewTextContent("a is 1")}}, "a is 1"},
		{"structured content beside an image", &mcp.CallToolResult{StructuredContent: map[string]any{"a": 1}, Content: []mcp.Content{mcp.NewImageContent("aGVsbG8=", "image/png")}},
			`{"type":"image","mimeType":"image/png","size":5}` + "\n" + `{"a":1}`},
		{"structured content alone", structured, `{"a":1}`},
		{"nothing at all", &mcp.CallToolResult{Content: []mcp.Content{}}, ""},
		{"an embedded text", &mcp.CallToolResult{Content: []mcp.Content{mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "file:///a", MIMEType: "text/plain", Text: "inside"})}},
			`{"type":"resource","mimeType":"text/plain","uri":"file:///a","size":6}` + "\ninside"},
	}
	m := server.NewMCPServer("results", "1")
	big := strings.Repeat("x", toolbox.MaxText-1) + "üü"
	m.AddTool(mcp.NewTool("big"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(big), nil
	})
	for _, tt := range tests {
		m.AddTool(mcp.NewTool(tt.name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return tt.result, nil
		})
	}
	box := openServers(t, serve(t, m).server("web"))
	for _, tt := range tests {
		if got := mustCall(t, box, toolbox.Call{Server: "web", Tool: tt.name}); got.Text != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got.Text, tt.want)
		}
	}
	got := mustCall(t, box, toolbox.Call{Server: "web", Tool: "big"}).Text
	if !strings.HasSuffix(got, "x\n[cut: the result has 16777219 bytes, the first 16777215 are shown]") {
		t.Errorf("got %d bytes ending in %q", len(got), got[len(got)-80:])
	}
}
