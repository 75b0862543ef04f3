package gateway_test

import (
	"os"
	"strings"
	"testing"
)

// The documentation quotes the code of the example.
func TestTheDocumentationQuotesTheExample(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("service/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	start := strings.Index(string(doc), "//\tfunc ")
	quoted, _, found := strings.Cut(string(doc[max(start, 0):]), "\n//\n")
	if code := strings.ReplaceAll(quoted+"\n", "//\t", ""); start < 0 || !found || !strings.Contains(string(example), code) {
		t.Errorf("service/example_test.go does not have what doc.go quotes:\n%s", code)
	}
}
