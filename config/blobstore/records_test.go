package blobstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"agent-stop-and-go/config/blobstore"
)

func TestARecordIsTheLastOneThatAnyProcessSaved(t *testing.T) {
	dir := t.TempDir()
	open := func() *blobstore.Store {
		s, err := blobstore.Open(t.Context(), "file://"+filepath.ToSlash(dir))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	a, b := open(), open()
	if data, err := b.LoadRecord(t.Context(), "tokens"); data != nil || err != nil {
		t.Errorf("got %q, %v", data, err)
	}
	for _, want := range []string{"first", "second"} {
		if err := a.SaveRecord(t.Context(), "tokens", []byte(want)); err != nil {
			t.Fatal(err)
		}
		if data, err := b.LoadRecord(t.Context(), "tokens"); string(data) != want || err != nil {
			t.Errorf("got %q, %v, want %q", data, err, want)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "records", "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files are %v, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
}
