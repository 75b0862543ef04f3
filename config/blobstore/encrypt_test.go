package blobstore_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/credential"
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
