package blobstore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"agent-stop-and-go/config/blobstore"
)

func openFolder(t *testing.T, url string) blobstore.Folder {
	t.Helper()
	s, err := blobstore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Folder("audit")
}

// Of several processes one creates a file. Each has a store of its own here, as processes have.
func TestAFileOfAFolderIsCreatedOnce(t *testing.T) {
	dir := t.TempDir()
	for n := range 30 {
		var wg sync.WaitGroup
		var created, refused atomic.Int32
		name := fmt.Sprintf("log/0000000/%03d", n)
		for p := range 4 {
			f := openFolder(t, "file://"+filepath.ToSlash(dir))
			wg.Go(func() {
				switch err := f.Create(t.Context(), name, fmt.Append(nil, p)); {
				case err == nil:
					created.Add(1)
				case errors.Is(err, fs.ErrExist):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if created.Load() != 1 || refused.Load() != 3 {
			t.Fatalf("%s: %d created, %d refused", name, created.Load(), refused.Load())
		}
	}
	f := openFolder(t, "file://"+filepath.ToSlash(dir))
	if err := os.WriteFile(filepath.Join(dir, "audit", "log", "0000000", ".new-1"), nil, 0o600); err != nil { // a crash has left it
		t.Fatal(err)
	}
	if names, err := f.List(t.Context(), "log/"); err != nil || len(names) != 30 || !slices.IsSorted(names) {
		t.Errorf("%d names, %v", len(names), err)
	}
}

func TestFilesOfAFolderAreReadAndRemoved(t *testing.T) {
	for _, url := range []string{"mem://", "file://" + filepath.ToSlash(t.TempDir())} {
		f := openFolder(t, url)
		for _, name := range []string{"texts/a/1", "texts/a/2", "texts/ab/1"} {
			if err := f.CreateSealed(t.Context(), name, []byte(name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Create(t.Context(), "texts/a/1", nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: created again: %v", url, err)
		}
		if err := f.Remove(t.Context(), "texts/a/"); err != nil {
			t.Error(err)
		}
		if _, err := f.Read(t.Context(), "texts/a/1"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: removed: %v", url, err)
		}
		if data, err := f.ReadSealed(t.Context(), "texts/ab/1"); err != nil || string(data) != "texts/ab/1" {
			t.Errorf("%s: %q, %v", url, data, err)
		}
	}
}
