package api_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/openapi/api"
)

func TestAReferenceThatLeadsNowhereIsNamed(t *testing.T) {
	const head = "openapi: 3.1.0\ninfo: {title: Pets, version: \"1\"}\npaths:\n  /pets:\n    get:\n      operationId: list\n      responses: {\"200\": {description: ok}}\n" +
		"components:\n  schemas:\n    Tag: {type: string, example: {$ref: \"#/no\"}}\n    Fine: {$ref: \"#/components/schemas/Tag\"}\n    Pet: "
	dir := t.TempDir()
	at := filepath.Join(dir, "pets.yaml")
	if err := os.WriteFile(filepath.Join(dir, "more.yaml"), []byte("Tag: {type: string}\nBad: {allOf: [{$ref: \"#/Nope\"}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer site.Close()
	for ref, want := range map[string]string{
		"#/components/schemas/Fine":   "",
		"more.yaml#/Tag":              "",
		"#/components/schemas/Nope":   `pets.yaml:12: $ref "#/components/schemas/Nope": map key "Nope" not found`,
		"#/components/schemas/a~1b":   `pets.yaml:12: $ref "#/components/schemas/a~1b": `,
		"more.yaml#/Tug":              `pets.yaml:12: $ref "more.yaml#/Tug": map key "Tug" not found`,
		"more.yaml#/Bad":              `more.yaml:2: $ref "#/Nope": `,
		"none.yaml#/Tag":              `"none.yaml#/Tag"`,
		"#/components/schemas/Tag/no": `pets.yaml:12: $ref "#/components/schemas/Tag/no": `,
	} {
		if err := os.WriteFile(at, []byte(head+"{properties: {tag: {$ref: \""+ref+"\"}}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, location := range []string{at, site.URL + "/pets.yaml"} {
			if _, err := api.Load(t.Context(), location, http.DefaultClient); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s in %s: %v", ref, location, err)
			}
		}
	}
}
