package embedded_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/workflowservice/v1"

	"agent-stop-and-go/deploy/standalone/embedded"
)

// With the build tag sqlite_fts5 the server uses SQLite in C, and this test SQLite in Go.
func TestADataDirectoryMovesBetweenDrivers(t *testing.T) {
	dir := t.TempDir()
	srv := start(t, embedded.Options{DataDir: dir})
	if err := run(t.Context(), dial(t, srv), "of-the-first"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the workflow is listed", func() (bool, error) { return listed(t, srv, "of-the-first") })
	stop(t, srv)

	path := filepath.Join(dir, "temporal.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var sound, started string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Errorf("integrity: %s, %v", sound, err)
	}
	if err := db.QueryRow("SELECT start_time || '' FROM executions_visibility WHERE workflow_id = 'of-the-first'").Scan(&started); err != nil || !strings.HasSuffix(started, "+00:00") {
		t.Errorf("it was started at %s, %v", started, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	execute(t, path, "UPDATE executions_visibility SET memo = memo; VACUUM; REINDEX")

	again := start(t, embedded.Options{DataDir: dir})
	wantRunning(t, again, "of-the-first")
	if ok, err := listed(t, again, "of-the-first"); !ok {
		t.Errorf("it is not listed: %v", err)
	}
}

func listed(t *testing.T, srv *embedded.Server, id string) (bool, error) {
	t.Helper()
	r, err := dial(t, srv).ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Query: "WorkflowId = '" + id + "' AND StartTime > '2020-01-01T00:00:00Z' AND ExecutionStatus = 'Running'",
	})
	return len(r.GetExecutions()) == 1, err
}

// An agent of before has all indexes, and runs with those that are left.
func TestIndexesThatNobodySearchesByAreDropped(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "temporal.db")
	stop(t, start(t, embedded.Options{DataDir: dir}))
	indexes := func() (n int) {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.QueryRow("SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	kept := indexes()
	if kept != 16 {
		t.Errorf("%d indexes are kept", kept)
	}
	execute(t, path, "CREATE INDEX by_int_01 ON executions_visibility (namespace_id, Int01)")
	srv := start(t, embedded.Options{DataDir: dir})
	if err := run(t.Context(), dial(t, srv), "listed"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the workflow is listed", func() (bool, error) { return listed(t, srv, "listed") })
	stop(t, srv)
	if now := indexes(); now != kept {
		t.Errorf("%d indexes, want %d", now, kept)
	}
}
