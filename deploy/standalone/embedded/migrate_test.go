package embedded_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/deploy/standalone/embedded"
)

// downgrade undoes what the schemas after 0.6 have added.
const downgrade = `
	DROP TABLE current_chasm_executions;
	DROP TABLE tasks_v2;
	DROP TABLE task_queues_v2;
	DROP TABLE chasm_node_maps;
	ALTER TABLE current_executions DROP COLUMN data;
	ALTER TABLE current_executions DROP COLUMN data_encoding;`

func execute(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

// older makes a data directory as an agent with schema 0.6 has left it, with a workflow
// under way.
func older(t *testing.T) (dir, version string) {
	t.Helper()
	dir = t.TempDir()
	srv := start(t, embedded.Options{DataDir: dir})
	if err := run(t.Context(), dial(t, srv), "from-before"); err != nil {
		t.Fatal(err)
	}
	stop(t, srv)
	version = filepath.Join(dir, "temporal.db.schema")
	execute(t, filepath.Join(dir, "temporal.db"), downgrade)
	write(t, version, "temporal 0.6, visibility 0.1, 0123456789ab\n")
	return dir, version
}

func TestAnOlderDatabaseIsBackedUpAndMigrated(t *testing.T) {
	dir, version := older(t)
	srv := start(t, embedded.Options{DataDir: dir})
	d, err := dial(t, srv).DescribeWorkflowExecution(t.Context(), "from-before", "")
	if err != nil || d.GetWorkflowExecutionInfo().GetStatus().String() != "Running" {
		t.Errorf("%v, %v", d.GetWorkflowExecutionInfo().GetStatus(), err)
	}
	if err := run(t.Context(), dial(t, srv), "from-after"); err != nil {
		t.Error(err)
	}
	stop(t, srv)
	if text, err := os.ReadFile(version); err != nil || strings.Contains(string(text), "0.6") {
		t.Errorf("version %s, %v", text, err)
	}

	backups, err := filepath.Glob(filepath.Join(dir, "temporal.db.before-*"))
	if err != nil || len(backups) != 1 {
		t.Fatalf("backups %v, %v", backups, err)
	}
	info, err := os.Stat(backups[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	again := t.TempDir() // the backup is a database of the old schema
	if err := os.Rename(backups[0], filepath.Join(again, "temporal.db")); err != nil {
		t.Fatal(err)
	}
	schema := strings.Replace(backups[0], ".db.", ".db.schema.", 1)
	if err := os.Rename(schema, filepath.Join(again, "temporal.db.schema")); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, start(t, embedded.Options{DataDir: again})).DescribeWorkflowExecution(t.Context(), "from-before", ""); err != nil {
		t.Error(err)
	}
}

func TestAMigrationThatACrashInterruptedIsFinished(t *testing.T) {
	dir, version := older(t)
	old, err := os.ReadFile(version)
	if err != nil {
		t.Fatal(err)
	}
	stop(t, start(t, embedded.Options{DataDir: dir}))
	write(t, version, string(old)) // which is written last
	start(t, embedded.Options{DataDir: dir})
}

func TestADatabaseThatIsNotWhatItSaysIsLeftAsItIs(t *testing.T) {
	dir, _ := older(t)
	path := filepath.Join(dir, "temporal.db")
	execute(t, path, "ALTER TABLE executions ADD COLUMN strange INT")
	_, err := embedded.Start(t.Context(), embedded.Options{DataDir: dir})
	wantError(t, err, "it was not migrated, and is as it was", "do not lead to a database as this version makes it")
	execute(t, path, "ALTER TABLE executions DROP COLUMN strange")
	start(t, embedded.Options{DataDir: dir})
}

// A power cut while the version is written leaves the old one or the new one.
func TestTheVersionIsReplacedAndNotOverwritten(t *testing.T) {
	dir, version := older(t)
	write(t, version+".new", "half of an earlier one, which is longer than a whole one that takes its place")
	kept := filepath.Join(t.TempDir(), "kept")
	if err := os.Link(version, kept); err != nil {
		t.Fatal(err)
	}
	stop(t, start(t, embedded.Options{DataDir: dir}))
	if text, err := os.ReadFile(kept); err != nil || !strings.HasPrefix(string(text), "temporal 0.6,") {
		t.Errorf("the old file has become %q (%v)", text, err)
	}
	start(t, embedded.Options{DataDir: dir})
}

func TestAVersionThatIsEmptyIsWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	version := filepath.Join(dir, "temporal.db.schema")
	stop(t, start(t, embedded.Options{DataDir: dir}))
	made, err := os.ReadFile(version)
	if err != nil {
		t.Fatal(err)
	}
	write(t, version, "")
	stop(t, start(t, embedded.Options{DataDir: dir}))
	if now, err := os.ReadFile(version); err != nil || string(now) != string(made) {
		t.Errorf("version %q, %v", now, err)
	}

	execute(t, filepath.Join(dir, "temporal.db"), downgrade)
	write(t, version, "")
	_, err = embedded.Start(t.Context(), embedded.Options{DataDir: dir})
	wantError(t, err, "temporal.db.schema that is empty", "not of this version", "version of agent that made it")
}

func TestAMigrationThatCannotBeNotedSaysThatItIsDone(t *testing.T) {
	dir, version := older(t)
	inTheWay := version + ".new"
	if err := os.Mkdir(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds it migrated
		_, err := embedded.Start(t.Context(), embedded.Options{DataDir: dir})
		wantError(t, err, "its database is migrated, but that could not be noted", "start this version again", "temporal.db.schema")
		if strings.Contains(err.Error(), "as it was") {
			t.Error(err)
		}
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	srv := start(t, embedded.Options{DataDir: dir})
	if _, err := dial(t, srv).DescribeWorkflowExecution(t.Context(), "from-before", ""); err != nil {
		t.Error(err)
	}
}
