package google_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"agent-stop-and-go/mcpservers/drive/google"
	"agent-stop-and-go/mcpservers/drive/google/drivetest"
	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting"
)

func creation(name, content string, m store.Mark) store.Creation {
	return store.Creation{Name: name, Content: []byte(content), Type: "text/plain", Mark: m}
}

func addition(id, content string, m store.Mark) store.Addition {
	return store.Addition{ID: id, Content: []byte(content), Mark: m}
}

// isUpload reports whether a request replaces or makes content.
func isUpload(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/upload/") }

func TestCreate(t *testing.T) {
	f := newFixture(t)
	made, err := f.Create(t.Context(), creation("it's a \\ \"note\".txt", "text", mark("k", "a")))
	must(t, err)
	if got := f.at.Get(made.ID); string(got.Content) != "text" || got.Parents[0] != f.folder || got.Type != "text/plain" || made.Version == "" || made.Size != 4 {
		t.Errorf("%+v %+v", got, made)
	}
	if _, err := f.Create(t.Context(), creation("it's a \\ \"note\".txt", "other", mark("k2", "a"))); !errors.Is(err, store.ErrExists) || !strings.Contains(err.Error(), made.ID) {
		t.Errorf("the same name: %v", err)
	}
	folder, err := f.CreateFolder(t.Context(), store.Creation{Name: "Inner", Mark: mark("f", "a")})
	if err != nil || folder.Kind != store.KindFolder || f.at.Get(folder.ID).Type != drivetest.TypeFolder {
		t.Errorf("%+v %v", folder, err)
	}
	inner := creation("note.txt", "inner", mark("i", "a"))
	inner.Folder = folder.ID
	if made, err := f.Create(t.Context(), inner); err != nil || made.Folder != folder.ID {
		t.Errorf("%+v %v", made, err)
	}
}

func TestARepeatedCreationMakesOneFile(t *testing.T) {
	f := newFixture(t)
	first, err := f.Create(t.Context(), creation("a.txt", "text", mark("k", "args")))
	must(t, err)
	f.at.Change(first.ID, false, func(file *drivetest.File) { file.Name = "renamed.txt" })
	// Another process, which has nothing but the drive.
	again, err := reopened(t, f).Create(t.Context(), creation("a.txt", "text", mark("k", "args")))
	if err != nil || again.ID != first.ID || len(f.at.Named("a.txt")) != 0 {
		t.Errorf("%+v %v", again, err)
	}
	f.at.Change(first.ID, false, func(file *drivetest.File) { file.Name = "a.txt" })
	if _, err := f.Create(t.Context(), creation("a.txt", "other", mark("k", "others"))); !errors.Is(err, hosting.ErrKeyReused) {
		t.Errorf("the key with other arguments: %v", err)
	}
}

func TestACreationWithoutAnAnswerMakesOneFile(t *testing.T) {
	for name, broken := range map[string]func(f *fixture, n *atomic.Int64){
		"made, and no answer": func(f *fixture, n *atomic.Int64) {
			f.at.After = func(r *http.Request) bool { return isUpload(r) && n.Add(1) == 1 }
		},
		"not made": func(f *fixture, n *atomic.Int64) {
			f.at.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if isUpload(r) && n.Add(1) == 1 {
					panic(http.ErrAbortHandler)
				}
				return false
			}
		},
		"status 503": func(f *fixture, n *atomic.Int64) {
			f.at.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if isUpload(r) && n.Add(1) == 1 {
					drivetest.Fail(w, 503, "backendError", "Backend Error")
					return true
				}
				return false
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			var n atomic.Int64
			broken(f, &n)
			made, err := f.Create(t.Context(), creation("a.txt", "text", mark("", "")))
			if err != nil || len(f.at.Named("a.txt")) != 1 || f.content(made.ID) != "text" || n.Load() != 2 {
				t.Errorf("%v, %d requests, %+v", err, n.Load(), f.at.Named("a.txt"))
			}
		})
	}
}

// The caller is told, and the next call with the key makes no second file.
func TestACreationThatNeverGetsAnAnswer(t *testing.T) {
	f := newFixture(t)
	var away atomic.Bool
	away.Store(true)
	f.at.After = func(r *http.Request) bool { return away.Load() && (isUpload(r) || r.Method == http.MethodPost) }
	f.at.Before = func(w http.ResponseWriter, r *http.Request) bool { // nothing is known of it either
		if away.Load() && r.Method == http.MethodGet && len(f.at.Named("a.txt")) > 0 {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	if _, err := f.Create(t.Context(), creation("a.txt", "text", mark("k", "a"))); !errors.Is(err, store.ErrUnknown) {
		t.Fatal(err)
	}
	away.Store(false)
	if _, err := f.Create(t.Context(), creation("a.txt", "text", mark("k", "a"))); err != nil || len(f.at.Named("a.txt")) != 1 {
		t.Errorf("%v %+v", err, f.at.Named("a.txt"))
	}
}

func TestAppend(t *testing.T) {
	f := newFixture(t)
	id := f.at.Text("a.txt", f.folder, "one\n")
	version := f.at.Get(id).Revisions[0]
	out, err := f.Append(t.Context(), store.Addition{ID: id, Content: []byte("two\n"), Version: version, Mark: mark("k", "a")})
	if err != nil || f.content(id) != "one\ntwo\n" || out.Warning != "" || out.File.Size != 8 || out.File.Version == version {
		t.Errorf("%q %+v %v", f.content(id), out, err)
	}
	// Another process does not append again, nor after others have changed the file.
	f.at.Change(id, true, func(file *drivetest.File) { file.Content = []byte("changed\n") })
	if _, err := reopened(t, f).Append(t.Context(), addition(id, "two\n", mark("k", "a"))); err != nil || f.content(id) != "changed\n" {
		t.Errorf("%q %v", f.content(id), err)
	}
	if _, err := f.Append(t.Context(), addition(id, "x", mark("k", "other"))); !errors.Is(err, hosting.ErrKeyReused) {
		t.Error(err)
	}
	if _, err := f.Append(t.Context(), store.Addition{ID: id, Content: []byte("x"), Version: version, Mark: mark("", "")}); !errors.Is(err, store.ErrChanged) {
		t.Error(err)
	}
	binary := f.at.Put(drivetest.File{Name: "a.png", Type: "image/png", Parents: []string{f.folder}, Content: []byte{0x89, 'P', 0, 0xff}})
	document := f.at.Put(drivetest.File{Name: "Doc", Type: drivetest.TypeDocument, Parents: []string{f.folder}, Content: []byte("text")})
	for id, want := range map[string]string{binary: "not text", document: "only files can be appended to", f.folder: store.ErrFolder.Error(), f.at.Text("big", f.folder, strings.Repeat("x", 1000)): "1001 bytes, at most 1000"} {
		before := f.at.Get(id)
		if _, err := f.Append(t.Context(), addition(id, "x", mark("", ""))); err == nil || !strings.Contains(err.Error(), want) || f.at.Get(id).Version != before.Version {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestAppendsAtOnceAreAllThere(t *testing.T) {
	f := newFixture(t)
	id := f.at.Text("a.txt", f.folder, "")
	var group sync.WaitGroup
	for n := range 30 {
		group.Go(func() {
			if _, err := f.Append(t.Context(), addition(id, fmt.Sprintf("%d\n", n), mark("", ""))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got := f.at.Get(id)
	if n := strings.Count(string(got.Content), "\n"); n != 30 || len(got.AppProperties) != store.MaxMarks {
		t.Errorf("%d lines, %d properties", n, len(got.AppProperties))
	}
}

func TestSomebodyElseChangesTheFileMeanwhile(t *testing.T) {
	somebody := func(f *fixture, id, path string) {
		var once sync.Once
		f.at.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasPrefix(r.URL.Path, path) && (path != "/drive" || r.URL.Query().Get("alt") == "media") {
				once.Do(func() { f.at.Change(id, true, func(file *drivetest.File) { file.Content = []byte("theirs\n") }) })
			}
			return false
		}
	}
	t.Run("before the check", func(t *testing.T) {
		f := newFixture(t)
		id := f.at.Text("a.txt", f.folder, "first\n")
		somebody(f, id, "/drive")
		if out, err := f.Append(t.Context(), addition(id, "ours\n", mark("", ""))); err != nil || f.content(id) != "theirs\nours\n" || out.Warning != "" {
			t.Errorf("%q %+v %v", f.content(id), out, err)
		}
	})
	t.Run("after the check", func(t *testing.T) {
		f := newFixture(t)
		id := f.at.Text("a.txt", f.folder, "first\n")
		somebody(f, id, "/upload/")
		out, err := f.Append(t.Context(), addition(id, "ours\n", mark("", "")))
		if theirs := f.at.Get(id).Revisions[1]; err != nil || f.content(id) != "first\nours\n" || !strings.Contains(out.Warning, "revision "+theirs) {
			t.Errorf("%q %+v %v", f.content(id), out, err)
		}
	})
	t.Run("all the time", func(t *testing.T) {
		f := newFixture(t)
		id := f.at.Text("a.txt", f.folder, "")
		f.at.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("alt") == "media" {
				f.at.Change(id, true, func(file *drivetest.File) { file.Content = append(file.Content, '!') })
			}
			return false
		}
		f.at.Change(id, true, func(file *drivetest.File) { file.Content = []byte("!") })
		if _, err := f.Append(t.Context(), addition(id, "ours\n", mark("", ""))); !errors.Is(err, store.ErrBusy) || strings.Contains(f.content(id), "ours") {
			t.Errorf("%q %v", f.content(id), err)
		}
	})
	t.Run("moves it out", func(t *testing.T) {
		f := newFixture(t)
		id := f.at.Text("a.txt", f.folder, "first\n")
		f.at.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("alt") == "media" {
				f.at.Change(id, false, func(file *drivetest.File) { file.Parents = []string{drivetest.Root} })
			}
			return false
		}
		if _, err := f.Append(t.Context(), addition(id, "ours\n", mark("", ""))); !errors.Is(err, store.ErrNotFound) || f.content(id) != "first\n" {
			t.Errorf("%q %v", f.content(id), err)
		}
	})
}

// A change is sent once. What came of it is asked for.
func TestAnAppendWithoutAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(f *fixture, sent *atomic.Int64)
		want    error
		content string
	}{
		"made": {func(f *fixture, sent *atomic.Int64) {
			f.at.After = func(r *http.Request) bool { return isUpload(r) && sent.Add(1) > 0 }
		}, nil, "onetwo"},
		"not made": {func(f *fixture, sent *atomic.Int64) {
			f.at.Before = func(_ http.ResponseWriter, r *http.Request) bool {
				if isUpload(r) {
					sent.Add(1)
					panic(http.ErrAbortHandler)
				}
				return false
			}
		}, store.ErrUnknown, "one"},
		"status 500": {func(f *fixture, sent *atomic.Int64) {
			f.at.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if isUpload(r) {
					sent.Add(1)
					drivetest.Fail(w, 500, "internalError", "Internal Error")
				}
				return isUpload(r)
			}
		}, store.ErrUnknown, "one"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			id := f.at.Text("a.txt", f.folder, "one")
			var sent atomic.Int64
			c.prepare(f, &sent)
			_, err := f.Append(t.Context(), addition(id, "two", mark("k", "a")))
			if !errors.Is(err, c.want) || f.content(id) != c.content || sent.Load() != 1 {
				t.Errorf("%v %q, sent %d times", err, f.content(id), sent.Load())
			}
		})
	}
}

func TestDelete(t *testing.T) {
	f := newFixture(t)
	id := f.at.Text("a.txt", f.folder, "one")
	if _, err := f.Delete(t.Context(), store.Deletion{ID: id, Version: "other", Mark: mark("", "")}); !errors.Is(err, store.ErrChanged) || f.at.Get(id).Trashed {
		t.Error(err)
	}
	for range 2 { // the second time as another process
		out, err := reopened(t, f).Delete(t.Context(), store.Deletion{ID: id, Mark: mark("k", "a")})
		if err != nil || !f.at.Get(id).Trashed || !strings.Contains(out.Trash, "trash") {
			t.Errorf("%+v %v", out, err)
		}
	}
	if _, err := f.Delete(t.Context(), store.Deletion{ID: id, Mark: mark("", "")}); err == nil || !strings.Contains(err.Error(), "in the trash already") {
		t.Error(err)
	}
	folder := f.at.Folder("Full", f.folder)
	inner := f.at.Text("inner.txt", folder, "x")
	if _, err := f.Delete(t.Context(), store.Deletion{ID: folder, Mark: mark("", "")}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Error(err)
	}
	if _, err := f.Delete(t.Context(), store.Deletion{ID: f.folder, Mark: mark("", "")}); err == nil || !strings.Contains(err.Error(), "itself") {
		t.Error(err)
	}
	permanent := reopened(t, f, func(c *google.Config) { c.Permanent = true })
	bin := f.at.Folder("Bin", f.folder)
	f.at.Put(drivetest.File{Name: "kept.txt", Type: "text/plain", Parents: []string{bin}, Trashed: true})
	if _, err := permanent.Delete(t.Context(), store.Deletion{ID: bin, Mark: mark("", "")}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("what is in the trash would be deleted for good: %v", err)
	}
	f.at.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Query().Get("q"), "in parents") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, err := io.WriteString(w, `{"files":[],"incompleteSearch":true}`)
		return err == nil
	}
	if _, err := f.Delete(t.Context(), store.Deletion{ID: bin, Mark: mark("", "")}); err == nil || !strings.Contains(err.Error(), "is not known") {
		t.Error(err)
	}
	f.at.Before = nil
	var n atomic.Int64
	f.at.After = func(r *http.Request) bool { return r.Method == http.MethodDelete && n.Add(1) == 1 }
	if out, err := permanent.Delete(t.Context(), store.Deletion{ID: inner, Mark: mark("", "")}); err != nil || out.Trash != "" || f.at.Get(inner).ID != "" {
		t.Errorf("%+v %v", out, err)
	}
	if _, err := f.Delete(t.Context(), store.Deletion{ID: folder, Mark: mark("", "")}); err != nil || !f.at.Get(folder).Trashed {
		t.Errorf("an empty folder: %v", err)
	}
}
