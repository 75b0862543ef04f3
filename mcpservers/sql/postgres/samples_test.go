package postgres_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/sql/postgres"
	"agent-stop-and-go/mcpservers/sql/statement"
)

// samples are the texts in the tests that come with the parser, which has them from PostgreSQL's.
func samples(t *testing.T) (texts []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/wasilibs/go-pgquery").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(text, " ") {
					texts = append(texts, text)
				}
			}
			return true
		})
	}
	return texts
}

// Whatever the grammar has is classified, and what does not begin like a read is none.
func TestSamplesOfTheGrammar(t *testing.T) {
	reads := []string{"select", "with", "explain", "show", "values", "table ", "("}
	classes := map[statement.Class]int{}
	for _, text := range samples(t) {
		facts, err := postgres.Classify(text)
		if err != nil {
			continue // no statement, or several
		}
		classes[facts.Class]++
		if strings.Contains(facts.Reason, "the parser failed") || strings.Contains(facts.Reason, "is not readable") {
			t.Errorf("%s: %s", text, facts.Reason)
		}
		begins := false
		for _, word := range reads {
			begins = begins || strings.HasPrefix(facts.Normalized, word)
		}
		if facts.Class == statement.Read && !begins {
			t.Errorf("a read: %s", text)
		}
	}
	t.Log(classes)
	if classes[statement.Read] < 50 {
		t.Errorf("hardly anything is a read: %v", classes)
	}
}

// Deep texts are refused before the parser, whose stack they would overflow.
func TestNoTextEndsTheParser(t *testing.T) {
	deep := strings.Repeat("(SELECT ", 55) + "1" + strings.Repeat("+1", 200) + strings.Repeat(")", 55)
	if facts, err := postgres.Classify("SELECT " + deep); err != nil || facts.Class != statement.Read {
		t.Errorf("%s %s %v", facts.Class, facts.Reason, err)
	}
	for _, text := range []string{
		"SELECT " + strings.Repeat("(SELECT ", 200) + "1" + strings.Repeat(")", 200), "SELECT " + strings.Repeat("NOT ", 9000) + "true",
		"SELECT " + strings.Repeat("CASE WHEN a THEN ", 1000) + "1" + strings.Repeat(" END", 1000), "SELECT 1" + strings.Repeat("::int", 1000),
		strings.Repeat("WITH a AS (", 300) + "SELECT 1" + strings.Repeat(") SELECT 1", 300), "SELECT a" + strings.Repeat("[1]", 5000),
		"SELECT a" + strings.Repeat(".b", 5000), "SELECT " + strings.Repeat("-+", 2000) + "1", "SELECT 1 FROM a" + strings.Repeat(" JOIN a ON true", 1000), "SELECT 1" + strings.Repeat(" UNION SELECT 1", 1000),
		"SELECT " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000), strings.Repeat("SELECT ", 9000), "SELECT 1" + strings.Repeat("+1", 20000),
		"SELECT '", "SELECT $$", "SELECT /*", "SELECT \"", "\x00", "SELECT\x001; DELETE FROM a", "\xff\xfe", "SELECT '\xff'", "SELECT U&'\\d800'",
	} {
		if facts, err := postgres.Classify(text); err == nil && facts.Class == "" {
			t.Errorf("%.40q has no class", text)
		}
		if facts, err := postgres.Classify("DELETE FROM a"); err != nil || facts.Class != statement.Write {
			t.Errorf("after %.40q: %+v %v", text, facts, err)
		}
	}
}
