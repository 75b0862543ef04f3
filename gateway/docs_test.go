package gateway_test

import (
	"testing"

	"gopkg.in/yaml.v3"

	"agent-stop-and-go/gateway"
)

// The page fills in the example of a parameter, and the first example of a body in the order
// of the file. A visitor who presses Execute without reading sends exactly that.

func TestThePageFillsInNoParameters(t *testing.T) {
	doc, err := spec()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for _, p := range append(operation.Parameters, item.Parameters...) {
				if p.Value.Example != nil || len(p.Value.Examples) > 0 || p.Value.Schema.Value.Example != nil {
					t.Errorf("%s %s: %s is filled in", method, path, p.Value.Name)
				}
				if p.Value.In == "header" && p.Value.Schema.Value.Default != nil {
					t.Errorf("%s %s: %s has a default", method, path, p.Value.Name)
				}
			}
		}
	}
}

func TestThePageDecidesNothingByItself(t *testing.T) {
	var d desk
	a := newAPI(t, d.backend())
	body := firstExample(t, "/approvals/{uuid}")
	a.wantError(400, "there is no answer; accepted is", a.do("POST", approvalPath, body))
	if d.record != nil {
		t.Errorf("decided: %+v", d.record)
	}
}

// firstExample returns the body that the page shows first.
func firstExample(t *testing.T, path string) string {
	t.Helper()
	var doc struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct{ Examples yaml.Node }
				} `yaml:"requestBody"`
			}
		}
	}
	if err := yaml.Unmarshal(gateway.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	examples := doc.Paths[path].Post.RequestBody.Content["application/json"].Examples
	if len(examples.Content) < 2 {
		t.Fatalf("POST %s has no examples; then the page makes one up", path)
	}
	var first struct{ Value map[string]any }
	if err := examples.Content[1].Decode(&first); err != nil || len(first.Value) > 0 {
		t.Errorf("POST %s begins with %v (%v)", path, first.Value, err)
	}
	return "{}"
}
