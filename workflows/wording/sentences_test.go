package wording_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// words matches literals that are texts: those with two words, or with one word before an
// insertion.
var words = regexp.MustCompile(`\pL{2}[,;:]? \pL{2}|\pL[,;:] $`)

var verbs = regexp.MustCompile(`%[a-zA-Z]`)

// Texts for people and models are in this package only, so that they can be found and changed
// in one place. Logs are exempt, and so are errors that only a bug can cause.
func TestSentencesStandInThisPackageOnly(t *testing.T) {
	for _, dir := range []string{"..", "../decide"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) < 5 {
			t.Fatalf("%d files in %s, %v", len(files), dir, err)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				checkSentences(t, name)
			}
		}
	}
}

func checkSentences(t *testing.T, name string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return !isLogCall(n) && !panics(n)
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind == token.STRING && err == nil && !strings.HasSuffix(text, ": %w") && words.MatchString(verbs.ReplaceAllString(text, "%")) {
				t.Errorf("%s: %q belongs into package wording", fset.Position(n.Pos()), text)
			}
		}
		return true
	})
}

// isLogCall reports whether a call writes to a workflow's log.
func isLogCall(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	logger, ok := method.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	get, ok := logger.Fun.(*ast.SelectorExpr)
	return ok && get.Sel.Name == "GetLogger"
}

func panics(call *ast.CallExpr) bool {
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "panic"
}
