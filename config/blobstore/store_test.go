package blobstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

var (
	_ transcript.Cache = (*blobstore.Store)(nil)
	_ transcript.Store = (*blobstore.MemoryStore)(nil)
)

func open(t *testing.T, dir string) *blobstore.Store {
	t.Helper()
	s, err := blobstore.Open(t.Context(), "file://"+filepath.ToSlash(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, s transcript.Store, data []byte) contract.Blob {
	t.Helper()
	b, err := s.Put(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func file(dir string, b contract.Blob) string {
	return filepath.Join(dir, b.SHA256[:2], b.SHA256[2:])
}

func stores(t *testing.T) map[string]transcript.Store {
	t.Helper()
	mem, err := blobstore.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mem.Close() })
	return map[string]transcript.Store{
		"folder": open(t, filepath.Join(t.TempDir(), "a", "b")), "bucket in memory": mem, "map": blobstore.Memory(),
	}
}

func TestValuesComeBackAsTheyWere(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			for _, data := range [][]byte{{}, []byte("x"), bytes.Repeat([]byte{0, 1, 2, 255}, 100_000), make([]byte, 20<<20)} {
				b := put(t, s, data)
				if b != contract.NewBlob(data) || b != put(t, s, data) {
					t.Errorf("address %+v", b)
				}
				got, err := s.Get(t.Context(), b)
				if err != nil || !bytes.Equal(got, data) {
					t.Errorf("%d bytes: got %d, %v", len(data), len(got), err)
				}
			}
		})
	}
}

func TestCallersMayChangeTheirBytes(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			data := []byte("hello")
			b := put(t, s, data)
			data[0] = 'X'
			for range 3 {
				got, err := s.Get(t.Context(), b)
				if err != nil || string(got) != "hello" {
					t.Fatalf("got %q, %v", got, err)
				}
				got[0] = 'X'
			}
		})
	}
}

func TestBadAddressesNeverBecomePaths(t *testing.T) {
	sum := strings.Repeat("a", 64)
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			for _, b := range []contract.Blob{
				{}, {SHA256: "../../etc/passwd"}, {SHA256: "a"}, {SHA256: strings.ToUpper(sum)},
				{SHA256: sum + "\n"}, {SHA256: sum[:62] + "/x"}, {SHA256: sum, Size: -1},
			} {
				if _, err := s.Get(t.Context(), b); !errors.Is(err, blobstore.ErrInvalid) {
					t.Errorf("%+v: got %v", b, err)
				}
			}
			if _, err := s.Get(t.Context(), contract.Blob{SHA256: sum}); !errors.Is(err, blobstore.ErrNotFound) {
				t.Errorf("an unknown address gave %v", err)
			}
		})
	}
}

func TestACorruptValueIsNeverReturned(t *testing.T) {
	dir := t.TempDir()
	b := put(t, open(t, dir), []byte("hello"))
	for _, text := range []string{"", "hell", "hellO", "hello!"} {
		if err := os.WriteFile(file(dir, b), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		for range 2 { // the second would come from the cache
			if got, err := s.Get(t.Context(), b); !errors.Is(err, blobstore.ErrCorrupt) || got != nil {
				t.Errorf("%q: got %q, %v", text, got, err)
			}
		}
	}
}

func TestAWrongSizeIsRefusedFromTheCacheToo(t *testing.T) {
	for name, s := range stores(t) {
		b := put(t, s, []byte("hello"))
		b.Size++
		if got, err := s.Get(t.Context(), b); !errors.Is(err, blobstore.ErrCorrupt) || got != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestAFileCutShortIsWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	b := put(t, open(t, dir), []byte("hello"))
	if err := os.Truncate(file(dir, b), 0); err != nil {
		t.Fatal(err)
	}
	put(t, open(t, dir), []byte("hello"))
	if got, err := open(t, dir).Get(t.Context(), b); err != nil || string(got) != "hello" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestADamagedValueIsWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	running := open(t, dir)
	b := put(t, running, []byte("hello"))
	for name, s := range map[string]*blobstore.Store{"a new process": open(t, dir), "one that has the value in memory": running} {
		damage(t, file(dir, b), "hellO")
		put(t, s, []byte("hello"))
		if got, err := open(t, dir).Get(t.Context(), b); err != nil || string(got) != "hello" {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestARemovedValueIsWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	b := put(t, s, []byte("hello"))
	if err := os.Remove(file(dir, b)); err != nil {
		t.Fatal(err)
	}
	put(t, s, []byte("hello"))
	if got, err := open(t, dir).Get(t.Context(), b); err != nil || string(got) != "hello" {
		t.Errorf("got %q, %v", got, err)
	}
}

// damage changes a stored file directly.
func damage(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// A clock with coarse ticks must not hide the change.
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
}

func TestALossNamesItsValue(t *testing.T) {
	dir := t.TempDir()
	b := put(t, open(t, dir), []byte("hello"))
	damage(t, file(dir, b), "hellO")
	_, err := open(t, dir).Get(t.Context(), b)
	loss, ok := transcript.LossIn(fmt.Errorf("read a text: %w", err))
	if !ok || loss.SHA256 != b.SHA256 || loss.Why != "its content does not match its address" {
		t.Errorf("got %+v from %v", loss, err)
	}
	if err := os.Remove(file(dir, b)); err != nil {
		t.Fatal(err)
	}
	_, err = open(t, dir).Get(t.Context(), b)
	if loss, ok := transcript.LossIn(err); !ok || loss.SHA256 != b.SHA256 || loss.Why != "it is not in the blob store" {
		t.Errorf("got %+v from %v", loss, err)
	}
}

func TestAnExistingValueIsNotWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	b := put(t, open(t, dir), []byte("hello"))
	before, err := os.Stat(file(dir, b))
	if err != nil {
		t.Fatal(err)
	}
	put(t, open(t, dir), []byte("hello"))
	after, err := os.Stat(file(dir, b))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("a new file took its place (%v)", err)
	}
}

func TestFilesArePrivateAndNoOthersRemain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	put(t, open(t, dir), []byte("hello"))
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil || files != 1 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestManyWritersOfTheSameValues(t *testing.T) {
	dir := t.TempDir()
	stores := []*blobstore.Store{open(t, dir), open(t, dir)}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := range 20 {
				data := []byte(strings.Repeat(fmt.Sprint(n), 5000))
				b, err := stores[i%2].Put(t.Context(), data)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := stores[(i+1)%2].Get(t.Context(), b); err != nil || !bytes.Equal(got, data) {
					t.Errorf("got %d bytes, %v", len(got), err)
				}
			}
		})
	}
	wg.Wait()
}

func TestACanceledPutStoresNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, dir).Put(ctx, []byte("hello")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := open(t, dir).Get(t.Context(), contract.NewBlob([]byte("hello"))); !errors.Is(err, blobstore.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestErrorsOfOpen(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"s3://bucket":         "this program has no driver for s3://",
		"::":                  "open blob store",
		"file://" + blocked:   "is not a directory",
		"file:///tmp?bogus=1": "bogus",
	} {
		if _, err := blobstore.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

func BenchmarkPut(b *testing.B) {
	s, err := blobstore.Open(b.Context(), "file://"+b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	data := make([]byte, 20<<10)
	for i := 0; b.Loop(); i++ {
		copy(data, fmt.Sprint(i, "."))
		if _, err := s.Put(b.Context(), data); err != nil {
			b.Fatal(err)
		}
	}
}
