package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/openapi/api"

	"github.com/google/go-cmp/cmp"
)

// load writes a document into a file and reads it.
func load(t *testing.T, text string) (*api.Document, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "api.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return api.Load(t.Context(), path, http.DefaultClient)
}

const head = "openapi: 3.0.3\ninfo: {title: T, version: '1'}\nservers: [{url: 'https://api.example.com/v1/'}]\n"

func operations(t *testing.T, text string, s api.Selection) []*api.Operation {
	t.Helper()
	d, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	all, err := d.Operations(s, "")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The values and texts are those of the table in OpenAPI 3.1, "Style Examples", with %20 and %7C.
func TestStyles(t *testing.T) {
	const array, object, text = `["blue","black","brown"]`, `{"R":100,"G":200,"B":150}`, `"blue"`
	for _, test := range []struct{ in, style, explode, value, want string }{
		{"path", "", "", text, "/blue"}, {"path", "simple", "false", array, "/blue,black,brown"}, {"path", "simple", "true", array, "/blue,black,brown"},
		{"path", "simple", "false", object, "/B,150,G,200,R,100"}, {"path", "simple", "true", object, "/B=150,G=200,R=100"},
		{"path", "label", "false", text, "/.blue"}, {"path", "label", "false", array, "/.blue,black,brown"}, {"path", "label", "true", array, "/.blue.black.brown"},
		{"path", "label", "false", object, "/.B,150,G,200,R,100"}, {"path", "label", "true", object, "/.B=150.G=200.R=100"},
		{"path", "matrix", "false", text, "/;color=blue"}, {"path", "matrix", "false", array, "/;color=blue,black,brown"}, {"path", "matrix", "true", array, "/;color=blue;color=black;color=brown"},
		{"path", "matrix", "false", object, "/;color=B,150,G,200,R,100"}, {"path", "matrix", "true", object, "/;B=150;G=200;R=100"},
		{"query", "", "", text, "?color=blue"}, {"query", "", "", array, "?color=blue&color=black&color=brown"}, {"query", "form", "false", array, "?color=blue,black,brown"},
		{"query", "form", "false", object, "?color=B,150,G,200,R,100"}, {"query", "form", "true", object, "?B=150&G=200&R=100"},
		{"query", "spaceDelimited", "false", array, "?color=blue%20black%20brown"}, {"query", "spaceDelimited", "", object, "?color=B%20150%20G%20200%20R%20100"},
		{"query", "pipeDelimited", "false", array, "?color=blue%7Cblack%7Cbrown"}, {"query", "pipeDelimited", "", object, "?color=B%7C150%7CG%7C200%7CR%7C100"},
		{"query", "deepObject", "true", object, "?color%5BB%5D=150&color%5BG%5D=200&color%5BR%5D=100"}, {"query", "deepObject", "true", `{"a":{"b":1},"c":[1,2]}`, "?color%5Ba%5D%5Bb%5D=1&color%5Bc%5D=1&color%5Bc%5D=2"},
		{"header", "", "", array, "Color: blue,black,brown"}, {"header", "simple", "true", object, "Color: B=150,G=200,R=100"}, {"header", "simple", "false", object, "Color: B,150,G,200,R,100"},
		{"cookie", "", "", text, "Cookie: color=blue"}, {"cookie", "form", "false", array, "Cookie: color=blue%2Cblack%2Cbrown"},

		{"path", "", "", `"a/b c?d#é%2e"`, "/a%2Fb%20c%3Fd%23%C3%A9%252e"}, {"query", "", "", `"a&b=c d+é#/?"`, "?color=a%26b%3Dc%20d%2B%C3%A9%23%2F%3F"},
		{"query", "", "", `12345678901234567890`, "?color=12345678901234567890"}, {"query", "", "", `true`, "?color=true"}, {"query", "", "", `1.50`, "?color=1.50"}, {"query", "", "", `""`, "?color="},
	} {
		spec := head + "paths: {'/" + map[bool]string{true: "{color}"}[test.in == "path"] + "': {get: {parameters: [{name: color, in: " + test.in + ", required: true, schema: {}"
		if test.style != "" {
			spec += ", style: " + test.style
		}
		if test.explode != "" {
			spec += ", explode: " + test.explode
		}
		o := operations(t, spec+"}], responses: {}}}}\n", api.Selection{})[0]
		r, err := o.Request(t.Context(), json.RawMessage(`{"color":`+test.value+`}`), api.Call{})
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		got := strings.TrimPrefix(r.URL.String(), "https://api.example.com/v1")
		if name, _, ok := strings.Cut(test.want, ": "); ok {
			got = name + ": " + r.Header.Get(name)
		} else if test.in == "query" {
			got = strings.TrimPrefix(got, "/")
		}
		if got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

const shop = head + `
security: [{key: []}]
paths:
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}, description: of the order}]
    get: {operationId: getOrder, summary: Get an order, tags: [orders], responses: {}}
    head: {operationId: headOrder, responses: {}}
    put: {operationId: putOrder, tags: [orders], responses: {}}
    patch: {operationId: patchOrder, responses: {}}
    delete: {operationId: deleteOrder, responses: {}}
    trace: {operationId: trace, responses: {}}
  /orders:
    post:
      operationId: addOrder
      parameters:
        - {name: Idempotency-Key, in: header, required: true, schema: {type: string}}
        - {name: X-Key, in: header, required: true, schema: {type: string}}
        - {name: Accept, in: header, schema: {type: string}}
        - {name: 'filter[name]', in: query, schema: {type: string, nullable: true, pattern: '(?=x)y'}}
        - {name: id, in: query, schema: {type: integer, minimum: 0, exclusiveMinimum: true}}
        - {name: id, in: header, schema: {type: string}}
        - {name: body, in: query, schema: {type: string}}
        - {name: sort, in: query, content: {application/json: {schema: {type: object}}}}
      requestBody: {required: true, content: {application/xml: {}, application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
      responses: {}
  /find: {post: {x-mcp: {name: find, description: Find orders, hints: {readOnly: true}}, responses: {}}}
  /hidden: {x-mcp: false, get: {responses: {}}, post: {x-mcp: {name: shown, hints: {destructive: false}}, responses: {}}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: x-key}}
  schemas:
    Order:
      type: object
      required: [id, item]
      properties:
        id: {type: integer, readOnly: true}
        item: {type: string, minLength: 1}
        parent: {$ref: '#/components/schemas/Order'}
        parts: {type: array, items: {$ref: '#/components/schemas/Part'}}
    Part: {type: object, properties: {of: {$ref: '#/components/schemas/Order'}, size: {type: number, nullable: true}}}
`

func TestHintsAreThoseOfTheMethod(t *testing.T) {
	want := map[string]api.Hints{
		"getOrder": {ReadOnly: true, Idempotent: true}, "headOrder": {ReadOnly: true, Idempotent: true}, "putOrder": {Destructive: true, Idempotent: true},
		"patchOrder": {Destructive: true}, "deleteOrder": {Destructive: true, Idempotent: true}, "addOrder": {Destructive: true},
		"find": {ReadOnly: true, Idempotent: true}, "shown": {},
	}
	got := map[string]api.Hints{}
	for _, o := range operations(t, shop, api.Selection{}) {
		got[o.Name] = o.Hints
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSelections(t *testing.T) {
	for _, test := range []struct {
		selection api.Selection
		want      string
	}{
		{api.Selection{ReadOnly: true}, "find getOrder headOrder"},
		{api.Selection{Include: api.Pattern{Tags: []string{"orders"}}}, "getOrder putOrder"},
		{api.Selection{Include: api.Pattern{Operations: []string{"*Order"}}, Exclude: api.Pattern{Operations: []string{"p*", "headOrder"}}}, "addOrder deleteOrder getOrder"},
		{api.Selection{Include: api.Pattern{Paths: []string{"/orders/**"}}, Exclude: api.Pattern{Paths: []string{"/orders"}, Tags: []string{"orders"}}}, "deleteOrder headOrder patchOrder"},
		{api.Selection{Include: api.Pattern{Paths: []string{"/hidden"}}}, "shown"},
	} {
		var names []string
		for _, o := range operations(t, shop, test.selection) {
			names = append(names, o.Name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%+v: %s", test.selection, got)
		}
	}
}

func named(t *testing.T, all []*api.Operation, name string) *api.Operation {
	t.Helper()
	i := slices.IndexFunc(all, func(o *api.Operation) bool { return o.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	return all[i]
}

func TestTheInputHasParametersAndBody(t *testing.T) {
	got, err := json.MarshalIndent(named(t, operations(t, shop, api.Selection{}), "addOrder").Input, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/input.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Error(diff)
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	o := named(t, operations(t, shop, api.Selection{}), "addOrder")
	for arguments, want := range map[string]string{
		`{}`: "body", `{"body":{}}`: "item", `{"body":{"item":""}}`: "minLength", `{"body":{"item":"x"},"id":0}`: "exclusiveMinimum", `{"body":{"item":"x"},"X-Key":"k"}`: "X-Key",
		`[]`: "must be a JSON object", `{"body":{"item":"x"},"header_id":"a\nb"}`: "line breaks", `{"body":{"item":"x","parts":[{"size":"big"}]}}`: "size", `{"body":{"item":"x"},"Idempotency-Key":"k"}`: "Idempotency-Key",
	} {
		if _, err := o.Request(t.Context(), json.RawMessage(arguments), api.Call{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	r, err := o.Request(t.Context(), json.RawMessage(`{"body":{"item":"<&>","parent":{"item":"y","parent":{"whatever":1}}},"filter_name":"a","id":null,"header_id":"h","sort":{"by":["x"]},"query_body":"b"}`),
		api.Call{Key: "k1", Authorize: func(h http.Header, q url.Values) { h.Set("X-Key", "secret"); q.Set("more", "1") }})
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(r.Body)
	if got := r.URL.String(); got != "https://api.example.com/v1/orders?filter%5Bname%5D=a&body=b&sort=%7B%22by%22%3A%5B%22x%22%5D%7D&more=1" {
		t.Error(got)
	}
	if string(body) != `{"item":"<&>","parent":{"item":"y","parent":{"whatever":1}}}` || r.Header.Get("Idempotency-Key") != "k1" || r.Header.Get("Id") != "h" || r.Header.Get("X-Key") != "secret" || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %v", body, r.Header)
	}
	for _, id := range []string{`".."`, `"."`, `""`} {
		path := operations(t, head+"paths: {'/a/{id}/b': {get: {parameters: [{name: id, in: path, required: true, schema: {}}], responses: {}}}}", api.Selection{})[0]
		if r, err := path.Request(t.Context(), json.RawMessage(`{"id":`+id+`}`), api.Call{}); err == nil {
			t.Errorf("%s: %s", id, r.URL)
		}
	}
}

func TestBodies(t *testing.T) {
	const schema = `{schema: {type: object, properties: {name: {type: string}, tags: {type: array, items: {type: string}}, more: {type: object}, file: {type: string, format: binary}, files: {type: array, items: {type: string, format: binary}}}}}`
	for _, test := range []struct{ kind, arguments, contentType, want string }{
		{"application/x-www-form-urlencoded: " + schema, `{"name":"a b&c","tags":["x","y"],"more":{"a":1}}`, "application/x-www-form-urlencoded", "more=%7B%22a%22%3A1%7D&name=a+b%26c&tags=x&tags=y"},
		{"application/x-www-form-urlencoded: {schema: {type: object}, encoding: {tags: {style: form, explode: false}, more: {style: deepObject, explode: true}}}", `{"tags":["x","y"],"more":{"a":1}}`, "application/x-www-form-urlencoded", "more%5Ba%5D=1&tags=x%2Cy"},
		{"application/merge-patch+json: " + schema, `{"name":null}`, "application/merge-patch+json", `{"name":null}`},
		{"text/plain: {schema: {type: string}}", `"héllo"`, "text/plain", "héllo"},
		{"application/xml: {}", `"<a/>"`, "application/xml", "<a/>"},
		{"image/png: {}", `{"base64":"AAE="}`, "image/png", "\x00\x01"},
		{"'*/*': {}", `[1]`, "application/json", "[1]"},
	} {
		if strings.Contains(test.arguments, "null") {
			test.kind = strings.Replace(test.kind, "name: {type: string}", "name: {type: string, nullable: true}", 1)
		}
		o := operations(t, head+"paths: {/x: {post: {requestBody: {content: {"+test.kind+"}}, responses: {}}}}", api.Selection{})[0]
		r, err := o.Request(t.Context(), json.RawMessage(`{"body":`+test.arguments+`}`), api.Call{})
		if err != nil {
			t.Errorf("%s: %v", test.kind, err)
			continue
		}
		if body, _ := io.ReadAll(r.Body); string(body) != test.want || r.Header.Get("Content-Type") != test.contentType {
			t.Errorf("%s: %s %q", test.kind, r.Header.Get("Content-Type"), body)
		}
	}
	o := operations(t, head+"paths: {/x: {post: {requestBody: {content: {multipart/form-data: "+schema+"}}, responses: {}}}}", api.Selection{})[0]
	r, err := o.Request(t.Context(), json.RawMessage(`{"body":{"name":"a\nb","more":{"a":1},"tags":["x","y"],"file":{"filename":"a\"b.txt","text":"hi"},"files":[{"base64":"AAE="},{"text":"2"}]}}`), api.Call{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.ParseMultipartForm(1 << 20); err != nil {
		t.Fatal(err)
	}
	file, err := r.MultipartForm.File["files"][0].Open()
	if err != nil {
		t.Fatal(err)
	}
	content, _ := io.ReadAll(file)
	if diff := cmp.Diff(map[string][]string{"name": {"a\nb"}, "more": {`{"a":1}`}, "tags": {"x", "y"}}, r.MultipartForm.Value); diff != "" || string(content) != "\x00\x01" || len(r.MultipartForm.File["files"]) != 2 || r.MultipartForm.File["file"][0].Filename != "a%22b.txt" {
		t.Errorf("%s %q %v", diff, content, r.MultipartForm.File)
	}
}

func TestDocuments(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside.yaml")
	if err := os.WriteFile(outside, []byte("{type: string, title: OUTSIDE}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "api", "schemas"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "api", "schemas", "x.yaml"), []byte("{type: object, properties: {self: {$ref: x.yaml}}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var at string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := map[string]string{"/x.json": `{"type":"string"}`, "/api.json": `{"openapi":"3.1.0","info":{"title":"T","version":"1"},"servers":[{"url":"/v2"}],"paths":{"/a":{"get":{"parameters":[{"name":"q","in":"query","schema":{"$ref":"x.json"}}]}}}}`}[r.URL.Path]
		_, _ = io.WriteString(w, text)
	}))
	defer s.Close()
	at = s.URL
	d, err := api.Load(t.Context(), at+"/api.json", http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	all, err := d.Operations(api.Selection{}, "")
	if err != nil || all[0].Base().String() != at+"/v2" || all[0].Name != "GET_a" {
		t.Errorf("%v %+v", err, all)
	}
	for ref, want := range map[string]string{
		"schemas/x.yaml": "", "../outside.yaml": "escapes", outside: "escapes", at + "/x.json": "is not a file of the folder", "schemas/none.yaml": "no such file", "'#/components/schemas/None'": "components",
	} {
		path := filepath.Join(dir, "api", "api.yaml")
		text := head + "paths: {/x: {post: {requestBody: {content: {application/json: {schema: {$ref: " + ref + "}}}}, responses: {}}}}"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := api.Load(t.Context(), path, http.DefaultClient)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", ref, err)
			} else if _, err := d.Operations(api.Selection{}, ""); err != nil {
				t.Errorf("%s: %v", ref, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for text, want := range map[string]string{
		"swagger: '2.0'\ninfo: {title: T, version: '1'}\npaths: {/x: {get: {responses: {}}}}": "not OpenAPI 3", head + "paths: {}": "has no paths", "[": "read the document",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		strings.Replace(head, "https://api.example.com/v1/", "/v1", 1) + "paths: {/x: {get: {responses: {}}}}":      "set base_url",
		head + "paths: {/x: {get: {x-mcp: {hint: {}}, responses: {}}}}":                                             "x-mcp: json: unknown field",
		head + "paths: {/x: {get: {parameters: [{name: a, in: query, style: matrix, schema: {}}], responses: {}}}}": `the style "matrix" does not go with query`,
		head + "paths: {/x: {post: {requestBody: {content: {'image/*': {}}}, responses: {}}}}":                      "none of the media types",
	} {
		d, err := load(t, text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Operations(api.Selection{}, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestLargeSchemasAreCut(t *testing.T) {
	var text strings.Builder
	text.WriteString(head + "paths: {/x: {post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}, responses: {}}}}\ncomponents:\n  schemas:\n")
	for i := range "0123456789" { // each has ten of the next: 10^10 in all
		text.WriteString("    S" + string(rune('0'+i)) + ": {type: object, properties: {")
		for j := range "0123456789" {
			text.WriteString("p" + string(rune('0'+j)) + ": {$ref: '#/components/schemas/S" + string(rune('0'+(i+1)%10)) + "'}, ")
		}
		text.WriteString("}}\n")
	}
	schema, err := json.Marshal(operations(t, text.String(), api.Selection{})[0].Input)
	if err != nil || len(schema) > 40_000 {
		t.Errorf("%v, %d bytes", err, len(schema))
	}
}
