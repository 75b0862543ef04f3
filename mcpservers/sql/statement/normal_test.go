package statement_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/sql/statement"
)

func TestTextsAreNormalized(t *testing.T) {
	pg := statement.Syntax{Dollar: true, Nested: true}
	my := statement.Syntax{Backslash: true, DoubleString: true, Backtick: true, Hash: true, MySQLComments: true}
	lite := statement.Syntax{Backtick: true, Bracket: true}
	for _, tt := range []struct {
		syntax     statement.Syntax
		text, want string
	}{
		{pg, "SELECT  1 ;", "select ?"},
		{pg, `SELECT "A" FROM T -- x`, `select "A" from t`},
		{pg, "SELECT $1, $x$ ' $x$, $$a$$", "select $1, ?, ?"},
		{pg, "SELECT /* /* x */ y */ 1.5e-3, E'\\'', 'a''b'", "select ?-?, ?, ?"},
		{pg, "SELECT a1, t2.b3", "select a1, t2.b3"},
		{my, "SELECT 'a\\'b', \"x\", `Y` # z\n FROM t", "select ?, ?, `Y` from t"},
		{my, "DELETE FROM t WHERE id=5--1 OR 1=1", "delete from t where id=?--? or ?=?"},
		{my, "SELECT 1 -- x\n+ 2 --\t'\n-3 --", "select ? + ? -?"},
		{my, "SELECT 1 /*!50000 INTO OUTFILE '/tmp/X' */", "select ? /*!50000 into outfile '/tmp/x' */"},
		{my, "/*M!100000  DELETE */ FROM t", "/*m!100000 delete */ from t"},
		{my, "SELECT /*+ SET_VAR(a=1) */ 1", "select /*+ set_var(a=1) */ 1"},
		{my, "/*!99999 ' */ DELETE FROM t -- '", "/*!99999 ' */ delete from t -- '"},
		{my, "/* x */ SELECT '/*!' /* y */", "select ?"},
		{pg, "SELECT 5--1\n/*! x */", "select ?"},
		{lite, "SELECT [A b], `C`, ?1, :x, x'00'", "select [A b], `C`, ??, :x, x?"},
		{pg, "", ""}, {pg, "'", "?"}, {pg, "/* x", ""}, {my, "'\\", "?"}, {pg, "$", "$"}, {lite, "[", "["},
	} {
		if got := tt.syntax.Normalize(tt.text); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestDepthOfATextIsBounded(t *testing.T) {
	pg := statement.Syntax{Dollar: true, Nested: true}
	for _, tt := range []struct {
		text            string
		brackets, chain int
	}{
		{"SELECT 1", 0, 1},
		{"SELECT ((1)), '((('", 2, 1},
		{"SELECT 1+1 || 2 >= 3", 0, 6},
		{"SELECT -+-+1", 0, 5},
		{"SELECT a" + strings.Repeat("::int", 100), 0, 201},
		{"INSERT INTO a VALUES (1, 2)" + strings.Repeat(", (1, 2)", 1000), 1, 0},
		{"SELECT x FROM a WHERE x IN (1" + strings.Repeat(", 1", 1000) + ")", 1, 3},
		{"SELECT " + strings.Repeat("NOT ", 500) + "true", 0, 501},
		{"SELECT " + strings.Repeat("f(", 500), 500, 1},
	} {
		if brackets, chain := pg.Depth(tt.text); brackets != tt.brackets || chain != tt.chain {
			t.Errorf("%.40q: %d %d, want %d %d", tt.text, brackets, chain, tt.brackets, tt.chain)
		}
	}
}

func FuzzTexts(f *testing.F) {
	for _, text := range []string{"SELECT 'x", "$a$ $", "/* /*", "E'\\", "\"\xff", "[", "`", "--", "--1", "/*! '"} {
		f.Add(text)
	}
	syntax := statement.Syntax{Backslash: true, DoubleString: true, Backtick: true, Bracket: true, Hash: true, Dollar: true, Nested: true}
	mysql := statement.Syntax{Backslash: true, DoubleString: true, Backtick: true, Hash: true, MySQLComments: true}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range []statement.Syntax{syntax, mysql} {
			if once := s.Normalize(text); strings.Contains(once, "  ") {
				t.Errorf("%q: %q", text, once)
			}
		}
		syntax.Depth(text)
	})
}
