package google_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/drive/google/drivetest"
	"agent-stop-and-go/mcpservers/drive/store"

	"github.com/google/go-cmp/cmp"
)

// everything calls all methods with an ID, and returns their errors.
func (f *fixture) everything(t *testing.T, id string) map[string]error {
	t.Helper()
	errs := map[string]error{}
	_, errs["stat"] = f.Stat(t.Context(), id)
	_, errs["read"] = f.Read(t.Context(), id, 0, 100)
	_, errs["list"] = f.List(t.Context(), id, page())
	_, errs["search"] = f.Search(t.Context(), id, "x", page())
	_, errs["create"] = f.Create(t.Context(), store.Creation{Folder: id, Name: "new", Type: "text/plain", Mark: mark("", "")})
	_, errs["create folder"] = f.CreateFolder(t.Context(), store.Creation{Folder: id, Name: "new", Mark: mark("", "")})
	_, errs["append"] = f.Append(t.Context(), store.Addition{ID: id, Content: []byte("!"), Mark: mark("", "")})
	_, errs["delete"] = f.Delete(t.Context(), store.Deletion{ID: id, Mark: mark("", "")})
	return errs
}

func TestNothingOutsideOfTheFolderIsReached(t *testing.T) {
	f := newFixture(t)
	outside := f.at.Text("secret.txt", drivetest.Root, "secret")
	elsewhere := f.at.Folder("Elsewhere", drivetest.Root)
	below := f.at.Text("below.txt", elsewhere, "secret")
	hidden := f.at.Put(drivetest.File{Name: "Hidden", Type: drivetest.TypeFolder, Parents: []string{f.folder}, Hidden: true})
	orphan := f.at.Text("orphan.txt", hidden, "secret")
	none := f.at.Put(drivetest.File{Name: "no parents", Type: "text/plain", Content: []byte("secret")})
	ids := map[string]string{
		"a file beside the folder": outside, "a folder beside it": elsewhere, "a file below that": below,
		"a file whose folder is not shared": orphan, "a file without parents": none,
		"My Drive": drivetest.Root, "no ID": "short", "a path": "../../secret.txt", "a query": "1test_file_id-000001?alt=media", "a missing one": "1test_file_id-999999",
	}
	moved := f.at.Text("moved.txt", f.folder, "secret")
	if _, err := f.Stat(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	f.at.Change(moved, false, func(f *drivetest.File) { f.Parents = []string{elsewhere} })
	ids["a file that was moved out"] = moved
	inner := f.at.Folder("Inner", f.folder)
	inInner := f.at.Text("inner.txt", inner, "secret")
	if _, err := f.Stat(t.Context(), inInner); err != nil {
		t.Fatal(err)
	}
	f.at.Change(inner, false, func(f *drivetest.File) { f.Parents = []string{drivetest.Root} })
	ids["a file in a folder that was moved out"] = inInner
	trashed := f.at.Folder("Trashed", f.folder)
	ids["a file in a folder in the trash"] = f.at.Text("t.txt", trashed, "secret")
	f.at.Change(trashed, false, func(f *drivetest.File) { f.Trashed = true })
	for what, id := range ids {
		before := f.at.Get(id)
		for method, err := range f.everything(t, id) {
			if !errors.Is(err, store.ErrNotFound) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s of %s: %v", method, what, err)
			}
		}
		if diff := cmp.Diff(before, f.at.Get(id)); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	if made := f.at.Named("new"); len(made) > 0 {
		t.Errorf("made %+v", made)
	}
}

func TestAShortcutLeadsToNothingOutside(t *testing.T) {
	f := newFixture(t)
	outside := f.at.Text("secret.txt", drivetest.Root, "secret")
	inside := f.at.Text("inside.txt", f.folder, "inside")
	shortcut := func(name, target string) string {
		return f.at.Put(drivetest.File{Name: name, Type: drivetest.TypeShortcut, Parents: []string{f.folder}, Target: target})
	}
	out, in := shortcut("out", outside), shortcut("in", inside)
	again, broken := shortcut("again", in), shortcut("broken", "1test_file_id-999999")
	for what, id := range map[string]string{"outside": outside, "a shortcut that leads out": out, "one that leads to a shortcut": again, "one that leads nowhere": broken} {
		if _, err := f.Read(t.Context(), id, 0, 10); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("read %s: %v", what, err)
		}
		if _, err := f.Append(t.Context(), store.Addition{ID: id, Content: []byte("!"), Mark: mark("", "")}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("append to %s: %v", what, err)
		}
	}
	if part, err := f.Read(t.Context(), in, 0, 10); err != nil || string(part.Data) != "inside" || part.File.ID != inside {
		t.Errorf("%+v %v", part, err)
	}
	// The shortcut is deleted, and not what it leads to.
	if _, err := f.Delete(t.Context(), store.Deletion{ID: out, Mark: mark("", "")}); err != nil || f.at.Get(outside).Trashed || !f.at.Get(out).Trashed {
		t.Errorf("%v %+v", err, f.at.Get(outside))
	}
	if f.content(outside) != "secret" {
		t.Error(f.content(outside))
	}
}

func TestFilesDeepInTheFolderAreReached(t *testing.T) {
	f := newFixture(t)
	folder := f.folder
	for n := range 20 {
		folder = f.at.Folder(fmt.Sprint("level ", n), folder)
	}
	id := f.at.Text("deep.txt", folder, "deep")
	if part, err := f.Read(t.Context(), id, 0, 10); err != nil || string(part.Data) != "deep" || part.File.Folder != folder {
		t.Errorf("%+v %v", part, err)
	}
	for _, root := range []string{"", ".", "/", "root", f.folder} {
		if file, err := f.Stat(t.Context(), root); err != nil || file.ID != f.folder || file.Kind != store.KindFolder {
			t.Errorf("%q: %+v %v", root, file, err)
		}
	}
}

func TestAFolderOfASharedDrive(t *testing.T) {
	f := newFixture(t)
	f.at.Put(drivetest.File{ID: f.folder, Name: "Team", Type: drivetest.TypeFolder, Parents: []string{drivetest.Root}, DriveID: "0ATeamDriveOfTests"})
	// The folder was read before it was one of a shared drive, so another one is opened.
	g := reopened(t, f)
	made, err := g.Create(t.Context(), store.Creation{Name: "a.txt", Content: []byte("a"), Type: "text/plain", Mark: mark("", "")})
	must(t, err)
	list, err := g.List(t.Context(), "", page())
	if err != nil || len(list.Files) != 1 || list.Files[0].ID != made.ID {
		t.Errorf("%+v %v", list, err)
	}
	if found, err := g.Search(t.Context(), "", "a", page()); err != nil || len(found.Files) != 1 {
		t.Errorf("%+v %v", found, err)
	}
}
