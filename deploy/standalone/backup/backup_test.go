package backup_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/deploy/standalone/backup"
	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/deploy/standalone/embedded/store"
)

// agent is the data of an agent.
type agent struct {
	t   *testing.T
	dir string
}

// newAgent makes data with two databases, each with a table t of one number.
func newAgent(t *testing.T) agent {
	t.Helper()
	a := agent{t, filepath.Join(t.TempDir(), "data")}
	a.write("conversation_1.json", `{"id":"1"}`)
	a.write("keys.json", "hashes")
	a.write("credential.key", "secret")
	a.write("audit.key", "secret")
	a.write("witness.key", "secret")
	a.write("tasks.log", "tasks")
	a.write("temporal.db.schema", "schema")
	a.write("blobs/claims/ab/cdef", "claim")
	for _, name := range []string{"temporal.db", "tools/notes.sqlite"} {
		db := a.create(name)
		exec(t, db, "PRAGMA journal_mode=wal; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0)")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (a agent) path(name string) string { return filepath.Join(a.dir, filepath.FromSlash(name)) }

func (a agent) write(name, content string) {
	a.t.Helper()
	path := a.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		a.t.Fatal(err)
	}
}

func (a agent) create(name string) *sql.DB {
	a.t.Helper()
	if err := os.MkdirAll(filepath.Dir(a.path(name)), 0o700); err != nil {
		a.t.Fatal(err)
	}
	db, err := store.Open(a.path(name))
	if err != nil {
		a.t.Fatal(err)
	}
	return db
}

func (a agent) source() backup.Source {
	return backup.Source{DataDir: a.dir, Values: a.path("blobs"), Version: "test"}
}

func (a agent) backUp(dir string) backup.Copy {
	a.t.Helper()
	c, err := backup.Make(a.t.Context(), a.source(), dir)
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

// files returns the content of all files below the data directory but databases.
func (a agent) files() map[string]string {
	a.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(a.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(a.dir, path)
		if !strings.HasPrefix(string(b), "SQLite format 3") {
			all[filepath.ToSlash(name)] = string(b)
		}
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return all
}

func exec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func number(t *testing.T, path string) (n int) {
	t.Helper()
	db, err := store.OpenReading(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT n FROM t").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (a agent) restored(c backup.Copy) agent {
	a.t.Helper()
	to := agent{a.t, filepath.Join(a.t.TempDir(), "restored")}
	if err := backup.Restore(a.t.Context(), c, to.target()); err != nil {
		a.t.Fatal(err)
	}
	return to
}

func (a agent) target() backup.Target { return backup.Target{DataDir: a.dir, Values: a.path("blobs")} }

func TestARestoreIsWhatWasCopied(t *testing.T) {
	a, dir := newAgent(t), t.TempDir()
	value := strings.Repeat("x", 3000)
	a.write("blobs/29/"+strings.Repeat("0", 62), value) // damaged: the name is not its sum
	to := a.restored(a.backUp(dir))
	got := to.files()
	r, pending, err := backup.Pending(to.dir)
	if err != nil || !pending || time.Since(r.At) > time.Minute {
		t.Errorf("the pause is missing: %+v, %v", r, err)
	}
	want := a.files()
	for _, name := range []string{"credential.key", "audit.key", "witness.key", "tasks.log"} {
		delete(want, name)
	}
	for _, name := range []string{"restored.json", "agent.lock"} {
		delete(got, name)
	}
	if !maps.Equal(got, want) {
		t.Errorf("restored %v, want %v", got, want)
	}
	for _, name := range []string{"temporal.db", "tools/notes.sqlite"} {
		if n := number(t, to.path(name)); n != 0 {
			t.Errorf("%s has %d", name, n)
		}
	}
}

// A writer counts in the tool's database first and in the server's afterwards, as a tool runs
// before the server knows.
func TestAllDatabasesAreCopiedAsAtOneMoment(t *testing.T) {
	a, dir := newAgent(t), t.TempDir()
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- count(a, done) }()
	var last int
	for i := range 20 {
		c := a.backUp(dir)
		server, tool := number(t, filepath.Join(c.Dir, "temporal.db")), number(t, filepath.Join(c.Dir, "tools", "notes.sqlite"))
		if tool != server && tool != server+1 || server < last {
			t.Errorf("copy %d has %d in the server's database and %d in the tool's, after %d", i, server, tool, last)
		}
		last = server
	}
	close(done)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if last == 0 {
		t.Error("nothing was written between the copies")
	}
}

func count(a agent, done <-chan struct{}) (err error) {
	var open []*sql.DB
	for _, name := range []string{"tools/notes.sqlite", "temporal.db"} {
		db, err := store.OpenServing(a.path(name))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		open = append(open, db)
	}
	for {
		for _, db := range open {
			if _, err := db.Exec("UPDATE t SET n = n + 1"); err != nil {
				return err
			}
		}
		select {
		case <-done:
			return nil
		default:
		}
	}
}

func TestASecondCopyHasOnlyWhatIsNew(t *testing.T) {
	a, dir := newAgent(t), t.TempDir()
	first := a.backUp(dir)
	count := func() (n int) {
		_ = filepath.WalkDir(filepath.Join(dir, "files"), func(_ string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				n++
			}
			return err
		})
		return n
	}
	before := count()
	a.write("conversation_2.json", `{"id":"2"}`)
	second := a.backUp(dir)
	if got := count(); got != before+1 {
		t.Errorf("%d contents after %d", got, before)
	}
	if found, err := backup.Find(dir, ""); err != nil || found.Dir != second.Dir {
		t.Errorf("the newest is %s, %v", found.Dir, err)
	}
	removed, err := backup.Prune(dir, 1)
	if err != nil || len(removed) != 1 || removed[0] != filepath.Base(first.Dir) || count() != before+1 {
		t.Errorf("removed %v, %v; %d contents", removed, err, count())
	}
	to := a.restored(second)
	if got := to.files()["conversation_2.json"]; got != `{"id":"2"}` {
		t.Errorf("restored %q", got)
	}
	if err := os.Remove(a.path("conversation_1.json")); err != nil {
		t.Fatal(err)
	}
	a.backUp(dir)
	if _, err := backup.Prune(dir, 1); err != nil || count() != before {
		t.Errorf("%d contents, %v", count(), err)
	}
}

func TestAnInterruptedCopyIsNone(t *testing.T) {
	a, dir := newAgent(t), t.TempDir()
	for _, path := range []string{"new.unfinished/temporal.db", "2026-01-01T00-00-00.000Z.unfinished/manifest.json", "files/draft-1"} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := backup.Find(dir, ""); !errors.Is(err, backup.ErrNone) {
		t.Errorf("found: %v", err)
	}
	a.backUp(dir)
	for _, pattern := range []string{"*.unfinished", "files/draft-*"} {
		if left, _ := filepath.Glob(filepath.Join(dir, pattern)); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	}
}

func TestADamagedCopyIsNotRestored(t *testing.T) {
	a, dir := newAgent(t), t.TempDir()
	c := a.backUp(dir)
	var damaged string
	_ = filepath.WalkDir(filepath.Join(dir, "files"), func(path string, e fs.DirEntry, _ error) error {
		if !e.IsDir() {
			damaged = path
		}
		return nil
	})
	content, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, append([]byte("!"), content[1:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	to := agent{t, filepath.Join(t.TempDir(), "restored")}
	if err := backup.Restore(t.Context(), c, to.target()); err == nil || !strings.Contains(err.Error(), damaged) {
		t.Fatalf("restored: %v", err)
	}
	_, err = embedded.Start(t.Context(), embedded.Options{DataDir: to.dir})
	if err == nil || !strings.Contains(err.Error(), "agent restore again") {
		t.Errorf("a server starts with half of a backup: %v", err)
	}
	if err := os.WriteFile(damaged, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := backup.Restore(t.Context(), a.backUp(dir), to.target()); err == nil || !strings.Contains(err.Error(), "another backup") {
		t.Errorf("another copy over half of one: %v", err)
	}
	if err := backup.Restore(t.Context(), c, to.target()); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if n := number(t, to.path("temporal.db")); n != 0 {
		t.Errorf("the database has %d", n)
	}
}

func TestWhatIsRefused(t *testing.T) {
	a, dir := newAgent(t), t.TempDir()
	c := a.backUp(dir)
	inUse := agent{t, filepath.Join(t.TempDir(), "used")}
	unlock, err := embedded.Lock(inUse.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unlock() })
	ctx := t.Context()
	for name, test := range map[string]struct {
		do   func() error
		want string
	}{
		"a folder of the data": {func() error { _, err := backup.Make(ctx, a.source(), a.path("backup")); return err }, "choose a folder elsewhere"},
		"no data":              {func() error { _, err := backup.Make(ctx, backup.Source{DataDir: t.TempDir()}, dir); return err }, "nothing to back up"},
		"data that are there":  {func() error { return backup.Restore(ctx, c, a.target()) }, "has a database"},
		"an agent that runs":   {func() error { return backup.Restore(ctx, c, inUse.target()) }, "in use by another agent"},
		"no folder of values":  {func() error { return backup.Restore(ctx, c, backup.Target{DataDir: t.TempDir()}) }, "blobs.url"},
		"an unknown name":      {func() error { _, err := backup.Find(dir, "2020-01-01T00-00-00.000Z"); return err }, "no finished backup"},
		"another version": {func() error {
			return find(t, `{"version":2,"agent":"v9.0.0"}`)
		}, "v9.0.0"},
		"a file elsewhere": {func() error {
			return find(t, fmt.Sprintf(`{"version":1,"files":[{"path":"../x","sha256":%q}]}`, strings.Repeat("a", 64)))
		}, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.do(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	if _, err := os.Stat(a.path("backup")); err == nil {
		t.Error("the refused folder was made")
	}
}

// find reads a copy with a manifest.
func find(t *testing.T, manifest string) error {
	dir := filepath.Join(t.TempDir(), "2026-11-23T22-31-05.000Z")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(manifest), 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err := backup.Find(dir, "")
	return err
}
