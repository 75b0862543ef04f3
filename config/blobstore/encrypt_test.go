package blobstore_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

// sealed opens a folder as a process with these keys.
func sealed(t *testing.T, dir string, ids ...string) *blobstore.Store {
	t.Helper()
	var codec *encryption.Codec
	for i := range ids {
		var keys []credential.Key
		for _, id := range ids[:i+1] {
			keys = append(keys, credential.Key{ID: id, Secret: bytes.Repeat([]byte(id), credential.KeySize)})
		}
		var err error
		if codec, err = encryption.New(keys...); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir)
	s.Encrypt(codec)
	return s
}

func TestEncryptedValuesAreReadWithAnyKey(t *testing.T) {
	dir, text := t.TempDir(), []byte(strings.Repeat("the marker text ", 1000))
	before := put(t, sealed(t, dir), []byte("before"))
	b := put(t, sealed(t, dir, "a"), text)
	if raw, err := os.ReadFile(file(dir, b)); err != nil || bytes.Contains(raw, []byte("marker")) {
		t.Fatalf("stored in clear, %v", err)
	}
	both := sealed(t, dir, "b", "a")
	for of, want := range map[contract.Blob][]byte{b: text, before: []byte("before")} {
		if got, err := both.Get(t.Context(), of); err != nil || !bytes.Equal(got, want) {
			t.Errorf("got %.20q, %v", got, err)
		}
	}
	old := mustRead(t, file(dir, b))
	put(t, sealed(t, dir, "b", "a"), text)
	if bytes.Equal(mustRead(t, file(dir, b)), old) {
		t.Error("what is stored again keeps the old key")
	}
	var missing *encryption.MissingKeyError
	for _, other := range []*blobstore.Store{sealed(t, dir, "c"), sealed(t, dir)} {
		if _, err := other.Get(t.Context(), b); !errors.As(err, &missing) {
			t.Errorf("without the key: %v", err)
		}
	}
	if err := os.WriteFile(file(dir, b), mustRead(t, file(dir, b))[:200], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sealed(t, dir, "b").Get(t.Context(), b); !errors.Is(err, blobstore.ErrCorrupt) {
		t.Errorf("a damaged value: %v", err)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A collection sees the references inside of encrypted values, or it stops.
func TestACollectionFollowsEncryptedValues(t *testing.T) {
	dir := t.TempDir()
	s := sealed(t, dir, "a")
	inner := put(t, s, []byte("the inner value"))
	outer := put(t, s, []byte(`{"sha256":"`+inner.SHA256+`"}`))
	unused := put(t, s, []byte("nothing refers to this"))
	if err := s.Mark(t.Context(), deletion.Marks{Holder: "h", AgentName: "a", Began: time.Now().Add(3 * deletion.Grace), Sums: []string{outer.SHA256}}); err != nil {
		t.Fatal(err)
	}
	var missing *encryption.MissingKeyError
	if _, err := sealed(t, dir, "b").Collect(t.Context(), deletion.Grace, false); !errors.As(err, &missing) {
		t.Errorf("without the key: %v", err)
	}
	s.At(func() time.Time { return time.Now().Add(3 * deletion.Grace) })
	if _, err := s.Collect(t.Context(), deletion.Grace, false); err != nil {
		t.Fatal(err)
	}
	s.Forget()
	for _, b := range []contract.Blob{inner, outer, unused} { // the last one is aside, and put back
		if _, err := s.Get(t.Context(), b); err != nil {
			t.Error(err)
		}
	}
}

// lookalike begins like a value that is encrypted with a key which nobody has.
func lookalike(content string) []byte { return []byte("\x00agent/encrypted/1\x00\x01z" + content) }

// A caller chooses the bytes of a file. It is stored without a key.
func TestAFileThatLooksEncryptedIsAFile(t *testing.T) {
	dir := t.TempDir()
	s := sealed(t, dir)
	data := lookalike("an image")
	b := put(t, s, data)
	written := mustStat(t, file(dir, b))
	put(t, sealed(t, dir), data)
	if !os.SameFile(written, mustStat(t, file(dir, b))) {
		t.Error("it is written again with each Put")
	}
	if err := s.Mark(t.Context(), deletion.Marks{Holder: "h", AgentName: "a", Began: time.Now().Add(3 * deletion.Grace), Sums: []string{b.SHA256}}); err != nil {
		t.Fatal(err)
	}
	for name, reader := range map[string]*blobstore.Store{"without keys": sealed(t, dir), "with keys": sealed(t, dir, "a")} {
		if got, err := reader.Get(t.Context(), b); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		if _, err := reader.Collect(t.Context(), deletion.Grace, false); err != nil {
			t.Errorf("%s, a collection: %v", name, err)
		}
	}
	put(t, sealed(t, dir, "a"), data)
	if bytes.Equal(mustRead(t, file(dir, b)), data) {
		t.Error("what is stored again with a key stays in clear")
	}
	if got, err := sealed(t, dir, "a").Get(t.Context(), b); err != nil || !bytes.Equal(got, data) {
		t.Errorf("encrypted: got %q, %v", got, err)
	}
}

// A value that looks encrypted is put back too.
func TestAFileThatLooksEncryptedIsPutBack(t *testing.T) {
	dir := t.TempDir()
	s := sealed(t, dir)
	b := put(t, s, lookalike("an image"))
	setAside(t, dir, b)
	if _, err := sealed(t, dir).Get(t.Context(), b); err != nil {
		t.Error(err)
	}
}

// setAside puts a value aside, as a collection does.
func setAside(t *testing.T, dir string, b contract.Blob) {
	t.Helper()
	from := file(dir, b)
	to := filepath.Join(dir, "aside", b.SHA256[:2], b.SHA256[2:])
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func mustStat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func cut(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// A power cut has left values short.
func TestADamagedEncryptedValueStopsNoCollection(t *testing.T) {
	dir := t.TempDir()
	s := sealed(t, dir, "a")
	inner := put(t, s, []byte("the inner value"))
	outer := put(t, s, []byte(`{"sha256":"`+inner.SHA256+`"}`))
	short := put(t, s, []byte(`{"sha256":"none, and enough bytes to cut"}`))
	header := put(t, s, []byte(`["another one"]`))
	aside := put(t, s, []byte(`["aside"]`))
	cut(t, file(dir, short), 40)
	cut(t, file(dir, header), 20)
	cut(t, file(dir, aside), 40)
	setAside(t, dir, aside)
	used := []string{outer.SHA256, short.SHA256, header.SHA256, aside.SHA256}
	if err := s.Mark(t.Context(), deletion.Marks{Holder: "h", AgentName: "a", Began: time.Now().Add(3 * deletion.Grace), Sums: used}); err != nil {
		t.Fatal(err)
	}
	s.At(func() time.Time { return time.Now().Add(3 * deletion.Grace) })
	got, err := s.Collect(t.Context(), deletion.Grace, false)
	if err != nil || len(got.Damaged) != 3 || got.Used != 4 || got.Discarded != 0 || got.Restored != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	s.Forget()
	var lost *transcript.Loss
	for _, b := range []contract.Blob{short, header, aside} {
		if _, err := s.Get(t.Context(), b); !errors.As(err, &lost) || !errors.Is(err, blobstore.ErrCorrupt) {
			t.Errorf("a damaged value: %v", err)
		}
	}
}

// Nothing is damaged if the key is another one of the same ID, so nothing may be discarded.
func TestAWrongKeyStopsACollection(t *testing.T) {
	dir := t.TempDir()
	s := sealed(t, dir, "a")
	used := put(t, s, []byte(`{"some":"value"}`))
	decoy := put(t, sealed(t, dir), []byte("\x00agent/encrypted/1\x00\x01a of a caller"))
	if err := s.Mark(t.Context(), deletion.Marks{Holder: "h", AgentName: "a", Began: time.Now().Add(3 * deletion.Grace), Sums: []string{used.SHA256, decoy.SHA256}}); err != nil {
		t.Fatal(err)
	}
	wrong, err := encryption.New(credential.Key{ID: "a", Secret: bytes.Repeat([]byte("x"), credential.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	other := open(t, dir)
	other.Encrypt(wrong)
	if _, err := other.Collect(t.Context(), deletion.Grace, false); !errors.Is(err, encryption.ErrUnreadable) {
		t.Errorf("got %v", err)
	}
}
