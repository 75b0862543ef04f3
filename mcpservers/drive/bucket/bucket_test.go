package bucket_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"agent-stop-and-go/mcpservers/drive/bucket"
	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mark(key, args string) store.Mark {
	return store.NewMark("t", hosting.CallKey{Key: key, ArgsSHA256: args})
}

func page() store.Page { return store.Page{Limit: 100} }

// s3 is a server that speaks the protocol of S3.
type s3 struct {
	*httptest.Server
	mu     sync.Mutex                                    // a request whose connection was broken may still be read
	before func(http.ResponseWriter, *http.Request) bool // answers itself
	after  func(*http.Request) bool                      // breaks the connection
}

func (s *s3) set(before func(http.ResponseWriter, *http.Request) bool, after func(*http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.after = before, after
}

func (s *s3) hooks() (before func(http.ResponseWriter, *http.Request) bool, after func(*http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.before, s.after
}

func newS3(t *testing.T) *s3 {
	t.Helper()
	backend := s3mem.New()
	must(t, backend.CreateBucket("files"))
	serve := gofakes3.New(backend).Server()
	s := &s3{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before, after := s.hooks()
		if before != nil && before(w, r) {
			return
		}
		if after == nil {
			serve.ServeHTTP(w, r)
			return
		}
		kept := httptest.NewRecorder()
		serve.ServeHTTP(kept, r)
		if after(r) {
			panic(http.ErrAbortHandler)
		}
		for name, values := range kept.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(kept.Code)
		_, _ = w.Write(kept.Body.Bytes())
	}))
	t.Cleanup(s.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIATESTACCESS")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_MAX_ATTEMPTS", "1")
	return s
}

func (s *s3) open(t *testing.T, permanent bool) *bucket.Bucket {
	t.Helper()
	return open(t, "s3://files?endpoint="+s.URL+"&use_path_style=true&prefix=team/", permanent)
}

func open(t *testing.T, address string, permanent bool) *bucket.Bucket {
	t.Helper()
	b, err := bucket.Open(t.Context(), address, bucket.Config{MaxFile: 1000, Permanent: permanent})
	must(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// each runs a test on a server of S3 and in memory.
func each(t *testing.T, test func(t *testing.T, b *bucket.Bucket)) {
	t.Run("s3", func(t *testing.T) { test(t, newS3(t).open(t, false)) })
	t.Run("mem", func(t *testing.T) { test(t, open(t, "mem://?prefix=team/", false)) })
}

func ids(l store.Listing) string {
	var names []string
	for _, f := range l.Files {
		names = append(names, f.Kind+" "+f.ID)
	}
	return strings.Join(names, ", ")
}

func create(t *testing.T, b *bucket.Bucket, folder, name, content string) store.File {
	t.Helper()
	f, err := b.Create(t.Context(), store.Creation{Folder: folder, Name: name, Content: []byte(content), Type: "text/plain", Mark: mark("", "")})
	must(t, err)
	return f
}

func content(t *testing.T, b *bucket.Bucket, id string) string {
	t.Helper()
	part, err := b.Read(t.Context(), id, 0, 1000)
	must(t, err)
	return string(part.Data)
}

func TestFiles(t *testing.T) {
	each(t, func(t *testing.T, b *bucket.Bucket) {
		made := create(t, b, "2026/März", "x y+z.txt", "one\n")
		if made.ID != "2026/März/x y+z.txt" || made.Folder != "2026/März" || made.Size != 4 || made.Version == "" || made.Type != "text/plain" {
			t.Errorf("%+v", made)
		}
		if _, err := b.Create(t.Context(), store.Creation{Folder: "2026/März", Name: "x y+z.txt", Content: []byte("!"), Mark: mark("", "")}); !errors.Is(err, store.ErrExists) {
			t.Error(err)
		}
		out, err := b.Append(t.Context(), store.Addition{ID: made.ID, Content: []byte("two\n"), Version: made.Version, Mark: mark("", "")})
		if err != nil || out.File.Size != 8 || out.File.Type != "text/plain" || content(t, b, made.ID) != "one\ntwo\n" {
			t.Errorf("%+v %v", out, err)
		}
		if _, err := b.Append(t.Context(), store.Addition{ID: made.ID, Content: []byte("x"), Version: made.Version, Mark: mark("", "")}); !errors.Is(err, store.ErrChanged) {
			t.Error(err)
		}
		if part, err := b.Read(t.Context(), made.ID, 2, 4); err != nil || string(part.Data) != "e\ntw" || !part.More {
			t.Errorf("%+v %v", part, err)
		}
		if part, err := b.Read(t.Context(), made.ID, 100, 4); err != nil || len(part.Data) > 0 || part.More {
			t.Errorf("%+v %v", part, err)
		}
		create(t, b, "", "a.txt", "")
		create(t, b, "", "b.txt", "")
		for id, want := range map[string]string{"": "folder 2026, file a.txt, file b.txt", "2026": "folder 2026/März", "2026/März/": "file 2026/März/x y+z.txt", "missing": ""} {
			if list, err := b.List(t.Context(), id, page()); err != nil || ids(list) != want {
				t.Errorf("%q: %s %v", id, ids(list), err)
			}
		}
		var all []string
		for token := ""; ; {
			list, err := b.List(t.Context(), "", store.Page{Token: token, Limit: 1})
			must(t, err)
			if len(list.Files) > 0 { // the last page of the server is empty
				all = append(all, ids(list))
			}
			if token = list.Next; token == "" {
				break
			}
		}
		if got := strings.Join(all, ", "); got != "folder 2026, file a.txt, file b.txt" {
			t.Error(got)
		}
		if list, err := b.Search(t.Context(), "", "X Y", page()); err != nil || ids(list) != "file 2026/März/x y+z.txt" {
			t.Errorf("%s %v", ids(list), err)
		}
		if f, err := b.Stat(t.Context(), "2026/März"); err != nil || f.Kind != store.KindFolder {
			t.Errorf("%+v %v", f, err)
		}
		for _, id := range []string{"2026", "2026/März"} {
			if _, err := b.Delete(t.Context(), store.Deletion{ID: id, Mark: mark("", "")}); !errors.Is(err, store.ErrFolder) {
				t.Error(err)
			}
		}
		if _, err := b.Append(t.Context(), store.Addition{ID: "2026", Content: []byte("x"), Mark: mark("", "")}); !errors.Is(err, store.ErrFolder) {
			t.Error(err)
		}
	})
}

func TestPathsThatLeadOutAreRefused(t *testing.T) {
	each(t, func(t *testing.T, b *bucket.Bucket) {
		for _, id := range []string{"../other/x", "/x", "a/../b", "a//b", "..", "\uff0e\uff0e/x", "a\u2215b", store.TrashFolder + "/x", ".MCP-DRIVE-TRASH/x", "a\x00", "a\u202eb"} {
			if _, err := b.Stat(t.Context(), id); err == nil {
				t.Errorf("stat %q", id)
			}
			if _, err := b.Read(t.Context(), id, 0, 1); err == nil {
				t.Errorf("read %q", id)
			}
			if _, err := b.List(t.Context(), id, page()); err == nil {
				t.Errorf("list %q", id)
			}
			if _, err := b.Create(t.Context(), store.Creation{Folder: id, Name: "x", Mark: mark("", "")}); err == nil {
				t.Errorf("create in %q", id)
			}
			if _, err := b.Delete(t.Context(), store.Deletion{ID: id, Mark: mark("", "")}); err == nil {
				t.Errorf("delete %q", id)
			}
		}
	})
}

func TestARepeatedCallChangesNothing(t *testing.T) {
	server := newS3(t)
	opened := func() *bucket.Bucket { return server.open(t, false) } // each as another process
	c := store.Creation{Name: "a.txt", Content: []byte("one\n"), Type: "text/plain", Mark: mark("c", "a")}
	for range 2 {
		if made, err := opened().Create(t.Context(), c); err != nil || made.ID != "a.txt" {
			t.Errorf("%+v %v", made, err)
		}
	}
	c.Mark = mark("c", "other")
	if _, err := opened().Create(t.Context(), c); !errors.Is(err, hosting.ErrKeyReused) {
		t.Error(err)
	}
	a := store.Addition{ID: "a.txt", Content: []byte("two\n"), Mark: mark("k", "a")}
	for range 2 {
		if _, err := opened().Append(t.Context(), a); err != nil {
			t.Error(err)
		}
	}
	if _, err := opened().Append(t.Context(), store.Addition{ID: "a.txt", Content: []byte("three\n"), Mark: mark("", "")}); err != nil {
		t.Error(err)
	}
	if _, err := opened().Append(t.Context(), a); err != nil || content(t, opened(), "a.txt") != "one\ntwo\nthree\n" {
		t.Errorf("%q %v", content(t, opened(), "a.txt"), err)
	}
	d := store.Deletion{ID: "a.txt", Mark: mark("d", "a")}
	for range 2 {
		if out, err := opened().Delete(t.Context(), d); err != nil || !strings.HasPrefix(out.Trash, store.TrashFolder+"/") || out.File.Size != 14 {
			t.Errorf("%+v %v", out, err)
		}
	}
	if _, err := opened().Delete(t.Context(), store.Deletion{ID: "a.txt", Mark: mark("", "")}); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if list, err := opened().List(t.Context(), "", page()); err != nil || len(list.Files) > 0 {
		t.Errorf("%s %v", ids(list), err)
	}
}

func TestAWriteWithoutAnAnswer(t *testing.T) {
	server := newS3(t)
	b := server.open(t, false)
	create(t, b, "", "a.txt", "one\n")
	var broken atomic.Int64
	broken.Store(1)
	server.set(nil, func(r *http.Request) bool { return r.Method == http.MethodPut && broken.Add(-1) == 0 })
	if out, err := b.Append(t.Context(), store.Addition{ID: "a.txt", Content: []byte("two\n"), Mark: mark("", "")}); err != nil || out.File.Size != 8 {
		t.Errorf("made: %+v %v", out, err)
	}
	server.set(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			panic(http.ErrAbortHandler)
		}
		return false
	}, nil)
	if _, err := b.Append(t.Context(), store.Addition{ID: "a.txt", Content: []byte("three\n"), Mark: mark("", "")}); !errors.Is(err, store.ErrUnknown) || content(t, b, "a.txt") != "one\ntwo\n" {
		t.Errorf("not made: %v", err)
	}
	server.set(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`))
		}
		return r.Method == http.MethodPut
	}, nil)
	if _, err := b.Append(t.Context(), store.Addition{ID: "a.txt", Content: []byte("three\n"), Mark: mark("", "")}); err == nil || errors.Is(err, store.ErrUnknown) {
		t.Errorf("refused: %v", err)
	}
}

func TestNothingOfOthersIsOverwritten(t *testing.T) {
	server := newS3(t)
	create(t, server.open(t, false), "", "a.txt", "")
	var group sync.WaitGroup
	var made, busy atomic.Int64
	for n := range 8 { // each as another process
		b := server.open(t, false)
		group.Go(func() {
			_, err := b.Append(t.Context(), store.Addition{ID: "a.txt", Content: fmt.Appendf(nil, "%d\n", n), Mark: mark("", "")})
			switch {
			case err == nil:
				made.Add(1)
			case errors.Is(err, store.ErrBusy):
				busy.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if text := content(t, server.open(t, false), "a.txt"); int64(strings.Count(text, "\n")) != made.Load() || made.Load() == 0 {
		t.Errorf("%d made, %d busy: %q", made.Load(), busy.Load(), text)
	}
}

func TestWrongAddressesAreRefused(t *testing.T) {
	for address, want := range map[string]string{"file:///etc": "must begin with", "x": "must begin with", "s3://": "no bucket", "s3://files?prefix=team": "must end with a slash", "http://files": "must begin with"} {
		if _, err := bucket.Open(t.Context(), address, bucket.Config{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
