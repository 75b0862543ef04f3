package keys

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func newReader(t *testing.T) (r *Reader, log *bytes.Buffer, now *time.Time) {
	t.Helper()
	log, now = &bytes.Buffer{}, new(time.Time)
	*now = time.Now()
	r = NewReader(filepath.Join(t.TempDir(), "sub", "keys.json"), slog.New(slog.NewTextHandler(log, nil)))
	r.now = func() time.Time { return *now }
	t.Cleanup(r.Close)
	return r, log, now
}

func add(t *testing.T, path, name string, expires time.Time) string {
	t.Helper()
	text, err := Add(path, name, []string{"read"}, expires)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAReaderNoticesChanges(t *testing.T) {
	r, _, now := newReader(t)
	if _, err := r.Find("asg_nothing"); !errors.Is(err, ErrUnknown) {
		t.Errorf("without a file: %v", err)
	}
	short, long := add(t, r.path, "short", now.Add(time.Hour)), add(t, r.path, "long", time.Time{})
	*now = now.Add(time.Second)
	if key, err := r.Find(short); err != nil || key.Name != "short" {
		t.Fatalf("an added key: %+v, %v", key, err)
	}
	*now = now.Add(time.Hour)
	if _, err := r.Find(short); !errors.Is(err, ErrExpired) {
		t.Errorf("an expired key: %v", err)
	}
	if _, err := r.Find(long); err != nil {
		t.Error(err)
	}
	if err := Revoke(r.path, "long"); err != nil {
		t.Fatal(err)
	}
	*now = now.Add(time.Second)
	if _, err := r.Find(long); !errors.Is(err, ErrUnknown) {
		t.Errorf("a revoked key: %v", err)
	}
}

func TestNoTextIsStored(t *testing.T) {
	r, _, now := newReader(t)
	text := add(t, r.path, "alice", time.Time{})
	if _, err := r.Find(text); err != nil {
		t.Fatal(err)
	}
	if err := merge(usedFile(r.path), map[string]time.Time{"alice": *now}); err != nil {
		t.Fatal(err)
	}
	secret := strings.Split(text, "_")[2]
	files, err := os.ReadDir(filepath.Dir(r.path))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(r.path), f.Name()))
		if err != nil || bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s has the key (%v)", f.Name(), err)
		}
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want 0600", f.Name(), info.Mode(), err)
		}
	}
}

func TestADamagedFileLetsNobodyIn(t *testing.T) {
	hash := strings.Repeat("00", 32)
	for name, data := range map[string]string{
		"cut off":             `{"keys": [`,
		"empty":               ``,
		"an unknown member":   `{"keys": [], "revoked": ["alice"]}`,
		"no hash":             `{"keys": [{"name": "alice", "id": "00000000", "sha256": "", "scopes": ["read"]}]}`,
		"an unknown scope":    `{"keys": [{"name": "alice", "id": "00000000", "sha256": "` + hash + `", "scopes": ["root"]}]}`,
		"the same name twice": `{"keys": [{"name": "alice", "id": "00000000", "sha256": "` + hash + `", "scopes": ["read"]}, {"name": "alice", "id": "00000001", "sha256": "` + hash + `", "scopes": ["read"]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			r, log, now := newReader(t)
			text := add(t, r.path, "bob", time.Time{})
			if _, err := r.Find(text); err != nil {
				t.Fatal(err)
			}
			whole, err := os.ReadFile(r.path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(r.path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				*now = now.Add(2 * time.Second)
				if _, err := r.Find(text); err == nil || errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), r.path) {
					t.Errorf("got %v, want an error that names the file", err)
				}
			}
			if n := strings.Count(log.String(), "nobody with a key gets in"); n != 1 {
				t.Errorf("logged %d times:\n%s", n, log)
			}
			if _, err := Add(r.path, "carol", []string{"read"}, time.Time{}); err == nil {
				t.Error("a damaged file was replaced")
			}
			if err := os.WriteFile(r.path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			*now = now.Add(2 * time.Second)
			if _, err := r.Find(text); err != nil {
				t.Errorf("after the repair: %v", err)
			}
		})
	}
}

func TestKeysThatAreNotMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	add(t, path, "alice", time.Time{})
	for name, f := range map[string]func() error{
		`there is a key "alice"`: func() error { _, err := Add(path, "alice", []string{"read"}, time.Time{}); return err },
		"letters, digits":        func() error { _, err := Add(path, "a b", []string{"read"}, time.Time{}); return err },
		"at least one scope":     func() error { _, err := Add(path, "bob", nil, time.Time{}); return err },
		`unknown scope "root"`:   func() error { _, err := Add(path, "bob", []string{"root"}, time.Time{}); return err },
		"expired already": func() error {
			_, err := Add(path, "bob", []string{"read"}, time.Now().Add(-time.Hour))
			return err
		},
		`no key "bob"`: func() error { return Revoke(path, "bob") },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
	if list, err := List(path); err != nil || len(list) != 1 {
		t.Errorf("got %+v, %v", list, err)
	}
}

// The name of a key is the subject of its caller, and so the owner of conversations.
func TestTheNameOfARevokedKeyIsNotGivenToSomebodyElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	first := add(t, path, "alice", time.Time{})
	if _, err := AddAgain(path, "alice", []string{"read"}, time.Time{}); err == nil {
		t.Error("alice has two keys")
	}
	if err := Revoke(path, "alice"); err != nil {
		t.Fatal(err)
	}
	if _, err := Add(path, "alice", []string{"read"}, time.Time{}); !errors.Is(err, ErrFormer) || !strings.Contains(err.Error(), "alice") {
		t.Errorf("got %v, want %v", err, ErrFormer)
	}
	add(t, path, "bob", time.Time{})
	second, err := AddAgain(path, "alice", []string{"read"}, time.Time{})
	if err != nil || second == first {
		t.Fatalf("got %q, %v", second, err)
	}
	if list, err := List(path); err != nil || len(list) != 2 {
		t.Errorf("got %+v, %v", list, err)
	}
	if err := os.WriteFile(formerFile(path), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Add(path, "carol", []string{"read"}, time.Time{}); err == nil || !strings.Contains(err.Error(), formerFile(path)) {
		t.Errorf("with a damaged list: %v", err)
	}
}

func TestKeysThatAreMadeAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, err := Add(path, fmt.Sprint("k", i), []string{"read"}, time.Time{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list, err := List(path); err != nil || len(list) != 20 {
		t.Errorf("got %d keys, %v, want 20", len(list), err)
	}
}

func TestUsesAreNotedOnceAMinute(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	synctest.Test(t, func(t *testing.T) {
		u := newUsage(path, slog.New(slog.DiscardHandler))
		first := time.Now()
		for range 100 {
			u.note("alice", time.Now())
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		if all, err := LastUsed(path); err != nil || !all["alice"].Equal(first) {
			t.Errorf("got %v, %v, want %v", all, err, first)
		}
		time.Sleep(time.Minute)
		second := time.Now()
		u.note("alice", second)
		u.note("bob", second)
		synctest.Wait()
		if all, err := LastUsed(path); err != nil || !all["alice"].Equal(second.Truncate(time.Second)) || all["bob"].IsZero() {
			t.Errorf("got %v, %v, want %v", all, err, second)
		}
	})
}

func TestAFolderThatCannotBeWrittenIsLoggedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		u := newUsage(filepath.Join(path, "keys.json"), slog.New(slog.NewTextHandler(&log, nil)))
		for range 3 {
			u.note("alice", time.Now())
			synctest.Wait()
			time.Sleep(2 * time.Minute)
		}
		if n := strings.Count(log.String(), "not noted"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, log.String())
		}
	})
}

// Whoever revokes a key is in a hurry. That the names of others are lost must not keep it alive.
func TestADamagedNoteOfFormerNamesKeepsNoKeyAlive(t *testing.T) {
	for damaged, want := range map[string]error{`{"alice": `: ErrNotNoted, `[]`: ErrNotNoted, `null`: nil} {
		path := filepath.Join(t.TempDir(), "keys.json")
		add(t, path, "alice", time.Time{})
		if err := os.WriteFile(formerFile(path), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Revoke(path, "alice"); !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), formerFile(path)) {
			t.Errorf("%s: got %v, want %v", damaged, err, want)
		}
		if left, err := List(path); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", damaged, left, err)
		}
		if _, err := Add(path, "alice", []string{"read"}, time.Time{}); err == nil {
			t.Errorf("%s: the name is given away", damaged)
		}
	}
}
