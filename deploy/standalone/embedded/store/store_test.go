package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/deploy/standalone/embedded/store"
)

// serve returns a database that has a table t (k PRIMARY KEY, v).
func serve(t *testing.T) *sql.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a?b#c%d.db")
	db, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	must(t, db, "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'one'), (2, 'two')")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, err = store.OpenServing(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func must(t *testing.T, db *sql.DB, statements string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statements, args...); err != nil {
		t.Fatal(err)
	}
}

// value is that of the only column of the only row.
func value(t *testing.T, db *sql.DB, query string, args ...any) (v string) {
	t.Helper()
	if err := db.QueryRow(query, args...).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAServingConnectionIsDurable(t *testing.T) {
	db := serve(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "1", "busy_timeout": "10000"} {
		if got := value(t, db, "PRAGMA "+pragma); got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
	if open := db.Stats().MaxOpenConnections; open != 1 {
		t.Errorf("%d connections", open)
	}
}

func TestAServingConnectionDoesNotMakeAFile(t *testing.T) {
	if db, err := store.OpenServing(filepath.Join(t.TempDir(), "missing.db")); err == nil {
		t.Error(db.Close(), "a missing file was opened")
	}
}

func TestKeptStatements(t *testing.T) {
	db := serve(t)
	const query = "SELECT v FROM t WHERE k = ?"
	for range 3 {
		for k, want := range map[int]string{1: "one", 2: "two"} {
			if got := value(t, db, query, k); got != want {
				t.Errorf("row %d is %q, want %q", k, got, want)
			}
		}
	}
	t.Run("see a changed schema", func(t *testing.T) {
		must(t, db, "ALTER TABLE t ADD COLUMN w TEXT DEFAULT 'new'")
		if got := value(t, db, query, 2); got != "two" {
			t.Errorf("got %q", got)
		}
		if got := value(t, db, "SELECT w FROM t WHERE k = ?", 1); got != "new" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("survive a failure", func(t *testing.T) {
		const insert = "INSERT INTO t (k, v) VALUES (?, ?)"
		for i := range 3 {
			if _, err := db.Exec(insert, 1, "again"); err == nil {
				t.Error("a row was doubled")
			}
			must(t, db, insert, 10+i, "new")
		}
	})
	t.Run("hold nothing back when rows are left unread", func(t *testing.T) {
		for range 3 {
			rows, err := db.Query("SELECT v FROM t")
			if err != nil {
				t.Fatal(err)
			}
			rows.Next()
			if err := rows.Close(); err != nil {
				t.Error(err)
			}
			must(t, db, "UPDATE t SET v = ? WHERE k = 1", "changed")
		}
		must(t, db, "PRAGMA wal_checkpoint(TRUNCATE)")
	})
	t.Run("are several of the same query in one transaction", func(t *testing.T) {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		var open []*sql.Rows
		for range 3 {
			rows, err := tx.Query(query, 2)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, rows)
		}
		for _, rows := range open {
			var v string
			if !rows.Next() || rows.Scan(&v) != nil || v != "two" {
				t.Errorf("got %q", v)
			}
			if err := rows.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("are not all of them", func(t *testing.T) {
		for i := range 600 {
			if got := value(t, db, fmt.Sprintf("SELECT v || %d FROM t WHERE k = 2", i)); got != fmt.Sprintf("two%d", i) {
				t.Errorf("got %q", got)
			}
		}
	})
}

func TestScriptsRunToTheirEnd(t *testing.T) {
	db := serve(t)
	must(t, db, "INSERT INTO t VALUES (5, 'five'); INSERT INTO t VALUES (6, 'six')")
	if got := value(t, db, "SELECT v FROM t WHERE k = 6"); got != "six" {
		t.Errorf("got %q", got)
	}
}

func TestACancelledRequestLeavesTheConnectionUsable(t *testing.T) {
	db := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "UPDATE t SET v = ? WHERE k = 1", "lost"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := tx.Commit(); err == nil {
		t.Error("it was committed")
	}
	if got := value(t, db, "SELECT v FROM t WHERE k = 1"); got != "one" {
		t.Errorf("got %q", got)
	}
}

func TestManyAtATime(t *testing.T) {
	db := serve(t)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			for range 20 {
				var v string
				if err := db.QueryRow("SELECT v FROM t WHERE k = ?", 1+i%2).Scan(&v); err != nil || v != []string{"one", "two"}[i%2] {
					t.Errorf("%q, %v", v, err)
				}
			}
		})
	}
	group.Wait()
}

// The server compares times as text, so both drivers must write the same.
func TestTimesAreWrittenAsTextOfOneForm(t *testing.T) {
	db := serve(t)
	must(t, db, "CREATE TABLE times (at TIMESTAMP)")
	at := time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)
	must(t, db, "INSERT INTO times VALUES (?)", at)
	if got, want := value(t, db, "SELECT at || '' FROM times"), "2026-03-04 05:06:07.89+00:00"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var back time.Time
	if err := db.QueryRow("SELECT at FROM times").Scan(&back); err != nil || !back.Equal(at) {
		t.Errorf("read back %v, %v", back, err)
	}
}
