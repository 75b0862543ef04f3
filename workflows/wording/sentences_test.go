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

// words are what makes a text of a literal: two of them, or one in front of what is added.
var words = regexp.MustCompile(`\pL{2}[,;:]? \pL{2}|\pL[,;:] $`)

var verbs = regexp.MustCompile(`%[a-zA-Z]`)

// Texts for people and models stand in this package, so that they are found, and changed, in
// one place. Logs are none, and neither are errors that a mistake in the code makes.
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
			return !logs(n) && !panics(n)
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind == token.STRING && err == nil && !strings.HasSuffix(text, ": %w") && words.MatchString(verbs.ReplaceAllString(text, "%")) {
				t.Errorf("%s: %q belongs into package wording", fset.Position(n.Pos()), text)
			}
		}
		return true
	})
}

// logs reports whether a call writes to a workflow's log.
func logs(call *ast.CallExpr) bool {
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
