package folder_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agent-stop-and-go/mcpservers/drive/folder"
	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newFolder(t *testing.T, permanent bool) (*folder.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "files")
	f, err := folder.Open(dir, folder.Config{MaxFile: 1000, Permanent: permanent})
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f, dir
}

func mark() store.Mark { return store.NewMark("t", hosting.CallKey{}) }

func page() store.Page { return store.Page{Limit: 100} }

func ids(l store.Listing) string {
	var names []string
	for _, f := range l.Files {
		names = append(names, f.Kind+" "+f.ID)
	}
	return strings.Join(names, ", ")
}

func TestFiles(t *testing.T) {
	f, dir := newFolder(t, false)
	made, err := f.Create(t.Context(), store.Creation{Folder: "a/b", Name: "x.txt", Content: []byte("one\n"), Mark: mark()})
	if err != nil || made.ID != "a/b/x.txt" || made.Folder != "a/b" || made.Size != 4 {
		t.Fatalf("%+v %v", made, err)
	}
	if _, err := f.Create(t.Context(), store.Creation{Folder: "a/b", Name: "x.txt", Mark: mark()}); !errors.Is(err, store.ErrExists) {
		t.Error(err)
	}
	if _, err := f.Create(t.Context(), store.Creation{Folder: "a/b/x.txt", Name: "y", Mark: mark()}); !errors.Is(err, store.ErrExists) {
		t.Errorf("in a file: %v", err)
	}
	out, err := f.Append(t.Context(), store.Addition{ID: made.ID, Content: []byte("two\n"), Version: made.Version, Mark: mark()})
	if err != nil || out.File.Size != 8 {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := f.Append(t.Context(), store.Addition{ID: made.ID, Content: []byte("x"), Version: made.Version, Mark: mark()}); !errors.Is(err, store.ErrChanged) {
		t.Error(err)
	}
	if part, err := f.Read(t.Context(), made.ID, 2, 4); err != nil || string(part.Data) != "e\ntw" || !part.More {
		t.Errorf("%+v %v", part, err)
	}
	if folder, err := f.CreateFolder(t.Context(), store.Creation{Name: "empty", Mark: mark()}); err != nil || folder.Kind != store.KindFolder {
		t.Errorf("%+v %v", folder, err)
	}
	for id, want := range map[string]string{"": "folder a, folder empty", "a": "folder a/b", "a/b/": "file a/b/x.txt"} {
		if list, err := f.List(t.Context(), id, page()); err != nil || ids(list) != want {
			t.Errorf("%q: %s %v", id, ids(list), err)
		}
	}
	if list, err := f.List(t.Context(), "", store.Page{Limit: 1, Token: "a"}); err != nil || ids(list) != "folder empty" || list.Next != "" {
		t.Errorf("%s %v", ids(list), err)
	}
	if list, err := f.Search(t.Context(), "", "X.T", page()); err != nil || ids(list) != "file a/b/x.txt" {
		t.Errorf("%s %v", ids(list), err)
	}
	if _, err := f.Delete(t.Context(), store.Deletion{ID: "a", Mark: mark()}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Error(err)
	}
	deleted, err := f.Delete(t.Context(), store.Deletion{ID: made.ID, Mark: mark()})
	must(t, err)
	if text, err := os.ReadFile(filepath.Join(dir, deleted.Trash)); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("%q %v", text, err)
	}
	for _, id := range []string{made.ID, deleted.Trash, store.TrashFolder} {
		if _, err := f.Stat(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if list, err := f.Search(t.Context(), "", "x", page()); err != nil || len(list.Files) != 0 {
		t.Errorf("the trash is searched: %s %v", ids(list), err)
	}
}

func TestNothingOutsideOfTheFolderIsReached(t *testing.T) {
	f, dir := newFolder(t, true)
	outside := filepath.Join(filepath.Dir(dir), "outside")
	must(t, os.Mkdir(outside, 0o700))
	secret := filepath.Join(outside, "secret.txt")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	must(t, os.Symlink("../outside", filepath.Join(dir, "link")))
	must(t, os.Symlink(secret, filepath.Join(dir, "file")))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	for _, id := range []string{"../outside/secret.txt", secret, "link/secret.txt", "file", "loop", "fifo", "a/../../outside/secret.txt", "\uff0e\uff0e/outside/secret.txt", "link/../outside/secret.txt"} {
		if _, err := f.Stat(t.Context(), id); err == nil {
			t.Errorf("stat %s", id)
		}
		if part, err := f.Read(t.Context(), id, 0, 10); err == nil {
			t.Errorf("read %s: %s", id, part.Data)
		} else if strings.Contains(err.Error(), dir) {
			t.Errorf("%s: the error has a path: %v", id, err)
		}
		if _, err := f.Append(t.Context(), store.Addition{ID: id, Content: []byte("!"), Mark: mark()}); err == nil {
			t.Errorf("append %s", id)
		}
		if _, err := f.Create(t.Context(), store.Creation{Folder: id, Name: "x", Mark: mark()}); err == nil {
			t.Errorf("create in %s", id)
		}
		if _, err := f.List(t.Context(), id, page()); err == nil {
			t.Errorf("list %s", id)
		}
	}
	for _, id := range []string{"link", "link/x"} {
		if _, err := f.Create(t.Context(), store.Creation{Folder: id, Name: "x", Mark: mark()}); err == nil {
			t.Errorf("create in %s", id)
		}
	}
	if list, err := f.Search(t.Context(), "", "secret", page()); err != nil || len(list.Files) > 0 {
		t.Errorf("%s %v", ids(list), err)
	}
	if list, err := f.List(t.Context(), "", page()); err != nil || len(list.Files) > 0 {
		t.Errorf("%s %v", ids(list), err)
	}
	if _, err := f.Delete(t.Context(), store.Deletion{ID: "link/secret.txt", Mark: mark()}); err == nil {
		t.Error("deleted through a link")
	}
	if _, err := f.Delete(t.Context(), store.Deletion{ID: "file", Mark: mark()}); err != nil { // the link itself
		t.Error(err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
		t.Errorf("%q %v", text, err)
	}
}

func TestAppendsAtOnceAreAllThere(t *testing.T) {
	f, dir := newFolder(t, false)
	must(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o600))
	var group sync.WaitGroup
	for n := range 50 {
		group.Go(func() {
			if _, err := f.Append(t.Context(), store.Addition{ID: "a", Content: fmt.Appendf(nil, "%d\n", n), Mark: mark()}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	text, err := os.ReadFile(filepath.Join(dir, "a"))
	if err != nil || strings.Count(string(text), "\n") != 50 {
		t.Errorf("%q %v", text, err)
	}
}

func TestAppendRefusesWhatItWouldBreak(t *testing.T) {
	f, dir := newFolder(t, false)
	must(t, os.WriteFile(filepath.Join(dir, "binary"), []byte{0, 1, 0xff}, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "big"), make([]byte, 1000), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	for id, want := range map[string]string{"binary": "not text", "big": "at most 1000", "folder": "it is a folder", "missing": "no such file"} {
		if _, err := f.Append(t.Context(), store.Addition{ID: id, Content: []byte("x"), Mark: mark()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// A repeated call finds that it was made, and leaves alone what has the name now.
func TestARepeatedDeletionLeavesTheNextFile(t *testing.T) {
	f, dir := newFolder(t, false)
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("first"), 0o600))
	call := store.NewMark("t", hosting.CallKey{Key: "k"})
	first, err := f.Delete(t.Context(), store.Deletion{ID: "a.txt", Mark: call})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("the second"), 0o600))
	again, err := f.Delete(t.Context(), store.Deletion{ID: "a.txt", Mark: call})
	if err != nil || again.Trash != first.Trash || again.File.Size != 5 {
		t.Errorf("%+v %v", again, err)
	}
	for name, want := range map[string]string{"a.txt": "the second", first.Trash: "first"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
}

// The version of a link is that of its file, as Stat says it. The link is deleted.
func TestALinkIsDeletedByTheVersionThatIsShown(t *testing.T) {
	f, dir := newFolder(t, true)
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("text"), 0o600))
	must(t, os.Symlink("a.txt", filepath.Join(dir, "link")))
	shown, err := f.Stat(t.Context(), "link")
	must(t, err)
	if _, err := f.Delete(t.Context(), store.Deletion{ID: "link", Version: "other", Mark: mark()}); !errors.Is(err, store.ErrChanged) {
		t.Error(err)
	}
	if _, err := f.Delete(t.Context(), store.Deletion{ID: "link", Version: shown.Version, Mark: mark()}); err != nil {
		t.Error(err)
	}
	if list, err := f.List(t.Context(), "", page()); err != nil || ids(list) != "file a.txt" {
		t.Errorf("%s %v", ids(list), err)
	}
}
