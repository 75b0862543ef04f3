package resources_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/hosting/sqlitefile"
	"agent-stop-and-go/mcpservers/resources"

	"github.com/mark3labs/mcp-go/client"
)

func TestFortyParallelAddsAllSucceedWithDistinctIDs(t *testing.T) {
	c := inProcess(t)
	ids := make([]string, 40)
	var group sync.WaitGroup
	for i := range ids {
		group.Go(func() { ids[i] = add(t, c, fmt.Sprintf("r%02d", i), int64(i)).ID })
	}
	group.Wait()
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 40 {
		t.Errorf("%d distinct ids", n)
	}
	if got := list(t, c).Count; got != 40 {
		t.Errorf("%d stored", got)
	}
}

func TestTwoStoresWriteOneFile(t *testing.T) {
	_, path := openStore(t)
	stores := []*resources.Store{openAt(t, path), openAt(t, path)}
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			if _, err := stores[i%2].Add(t.Context(), hosting.CallKey{}, "r", int64(i)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got, err := stores[0].List(t.Context(), nil); err != nil || got.Count != 40 {
		t.Errorf("%d stored, %v", got.Count, err)
	}
}

func TestReadersSeeARegexDeleteWholeOrNotAtAll(t *testing.T) {
	store, _ := openStore(t)
	for i := range 200 {
		if _, err := store.Add(t.Context(), hosting.CallKey{}, "old", int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	var group sync.WaitGroup
	started := make(chan struct{})
	group.Go(func() {
		signal := sync.OnceFunc(func() { close(started) })
		defer signal()
		for {
			got, err := store.List(t.Context(), nil)
			if err != nil || (got.Count != 0 && got.Count != 200) {
				t.Errorf("saw %d resources, %v", got.Count, err)
				return
			}
			signal()
			if got.Count == 0 {
				return
			}
		}
	})
	<-started
	got, err := store.Remove(t.Context(), hosting.CallKey{}, resources.Filter{Pattern: regexp.MustCompile("old")})
	if err != nil || got.RemovedCount != 200 {
		t.Errorf("removed %d, %v", got.RemovedCount, err)
	}
	group.Wait()
}

func TestADeleteThatFailsHalfWayRemovesNothingAndStoresNoKey(t *testing.T) {
	store, path := openStore(t)
	c, err := client.NewInProcessClient(resources.NewServer(store, quiet()))
	if err != nil {
		t.Fatal(err)
	}
	handshake(t, c)
	for i := range 3 {
		add(t, c, fmt.Sprintf("old-%d", i), 0)
	}
	exec(t, path, `CREATE TRIGGER stuck BEFORE DELETE ON resources WHEN old.name = 'old-2' BEGIN SELECT RAISE(ABORT, 'stuck'); END`)
	key := args{hosting.IdempotencyKey: "k"}
	text, isError := call(t.Context(), t, c, "resources_remove", args{"pattern": "old"}, key)
	if !isError || !strings.HasPrefix(text, "failed to remove resources: ") {
		t.Errorf("got %q", text)
	}
	if got := list(t, c).Count; got != 3 {
		t.Errorf("%d left", got)
	}
	exec(t, path, `DROP TRIGGER stuck`)
	if text, isError := call(t.Context(), t, c, "resources_remove", args{"pattern": "old"}, key); isError || !strings.Contains(text, `"removed_count": 3`) {
		t.Errorf("retry: %s", text)
	}
}

func exec(t *testing.T, path, statement string, arguments ...any) {
	t.Helper()
	db, err := sql.Open(sqlitefile.Driver, "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)+"?_busy_timeout=10000")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement, arguments...); err != nil {
		t.Fatal(err)
	}
}

func TestACancelledCallChangesNothing(t *testing.T) {
	store, _ := openStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Add(ctx, hosting.CallKey{}, "a", 1); err == nil {
		t.Error("no error")
	}
	if got, err := store.List(t.Context(), nil); err != nil || got.Count != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestANewFileCanBeOpenedByManyAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.db")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			store, err := resources.Open(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestOpenCreatesAPrivateDirectoryAndKeepsData(t *testing.T) {
	store, path := openStore(t)
	if _, err := store.Add(t.Context(), hosting.CallKey{}, "a", 1); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory %v, %v", info, err)
	}
	if got, err := openAt(t, path).List(t.Context(), nil); err != nil || got.Count != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOpenNamesTheFileItCannotUse(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "plain.txt")
	if err := os.WriteFile(file, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", ":memory:", dir, file, filepath.Join(file, "below.db")} {
		store, err := resources.Open(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: got %v, %v", path, store, err)
		}
	}
}
