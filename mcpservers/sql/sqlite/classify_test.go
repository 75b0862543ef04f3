package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/sql/engine"
	"agent-stop-and-go/mcpservers/sql/sqlite"
)

// An index or a trigger decides what its table takes, so that its table is written, too.
func TestIndexesAndTriggersWriteTheirTable(t *testing.T) {
	e, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "notes.db"), Write: true, Create: true, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)", "CREATE INDEX tmp_old ON notes (text)",
		"CREATE TRIGGER tmp_was BEFORE INSERT ON notes BEGIN SELECT 1; END",
	} {
		if _, err := e.Write(t.Context(), engine.Call{Text: text, Limits: engine.Limits{Timeout: time.Minute}}); err != nil {
			t.Fatal(err)
		}
	}
	for text, writes := range map[string]string{
		"CREATE UNIQUE INDEX tmp_i ON notes (text)":                                                         "notes tmp_i",
		"CREATE TRIGGER tmp_t BEFORE INSERT ON notes BEGIN SELECT raise(ABORT, 'no'); END":                  "notes tmp_t",
		"CREATE TEMP TRIGGER tmp_t AFTER DELETE ON main.notes BEGIN INSERT INTO notes (id) VALUES (1); END": "notes tmp_t",
		"DROP INDEX tmp_old":            "notes tmp_old",
		"DROP TRIGGER tmp_was":          "notes tmp_was",
		"CREATE TABLE tmp_x (y)":        "tmp_x",
		"CREATE VIEW tmp_v AS SELECT 1": "tmp_v",
		"DROP TABLE notes":              "notes tmp_was",
	} {
		facts, err := e.Classify(t.Context(), text)
		if got := strings.Join(facts.Writes, " "); err != nil || facts.Class != "schema" || got != writes {
			t.Errorf("%s: %s writes %q, want %q; %v", text, facts.Class, got, writes, err)
		}
	}
}
