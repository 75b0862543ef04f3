package keyring_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/config/keyring"
	"agent-stop-and-go/workflows/credential"
)

func keyText(b byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(b), credential.KeySize)))
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// opens reports whether other can open what ring seals.
func opens(t *testing.T, ring, other *credential.Keyring) bool {
	t.Helper()
	sealed, err := ring.Seal("c", credential.Token{Bearer: "b"})
	if err != nil {
		t.Fatal(err)
	}
	token, err := other.Open("c", sealed, time.Now())
	return err == nil && token.Bearer == "b"
}

func TestTheFirstKeySealsAndEachOpens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "untouched")
	get := func(keys string) *credential.Keyring {
		ring, err := keyring.Open(dir, env(keyring.Variable, keys), true)
		if err != nil {
			t.Fatal(err)
		}
		return ring
	}
	before, after := get("k1:"+keyText('a')), get(" k2:"+strings.TrimRight(keyText('b'), "=")+", k1:"+keyText('a')+"\n")
	if !opens(t, before, after) {
		t.Error("the second key does not open")
	}
	if opens(t, after, before) {
		t.Error("the first key does not seal")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("keys from the environment made a data directory")
	}
}

func TestBadKeysAreNamedButNotShown(t *testing.T) {
	const canary = "c2VjcmV0LWNhbmFyeS1rZXktdGhhdC1sZWFrcy1vdXQ" // 44 bytes of base64
	tests := map[string]struct{ keys, want string }{
		"no id":          {canary, "key 1: must be id:base64"},
		"empty id":       {":" + canary, "key 1: its id"},
		"swapped":        {canary + ":k1", "key 1: its id"},
		"dot in id":      {"k.1:" + keyText('a'), "key 1: its id"},
		"not base64":     {"k1:" + canary + "!", "key 1: what follows the colon is not base64"},
		"short":          {"k1:" + canary[:16], "key 1: it has 12 bytes instead of 32"},
		"twice":          {"k1:" + keyText('a') + ",k1:" + keyText('b'), "key 2: its id is used twice"},
		"trailing comma": {"k1:" + keyText('a') + ",", "key 2: must be id:base64"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := keyring.Open("data", env(keyring.Variable, tt.keys), true)
			if err == nil || !strings.Contains(err.Error(), keyring.Variable+": "+tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if strings.Contains(err.Error(), canary[:8]) || strings.Contains(err.Error(), keyText('a')[:8]) {
				t.Errorf("a key is in the error: %v", err)
			}
		})
	}
}

func TestAClusterWithoutKeysLearnsHowToMakeOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	_, err := keyring.Open(dir, env(), true)
	if err == nil || !strings.Contains(err.Error(), "openssl rand -base64 32") || !strings.Contains(err.Error(), keyring.Variable) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a data directory was made")
	}
}

func TestASingleMachineMakesAPrivateKeyFileOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	first, err := keyring.Open(dir, env(), false)
	if err != nil {
		t.Fatal(err)
	}
	second, err := keyring.Open(dir, env(), false)
	if err != nil {
		t.Fatal(err)
	}
	if !opens(t, first, second) {
		t.Error("the second start has another key")
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "credential.key"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestProcessesThatStartTogetherAgreeOnTheKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	rings := make([]*credential.Keyring, 16)
	var wg sync.WaitGroup
	for i := range rings {
		wg.Go(func() {
			var err error
			if rings[i], err = keyring.Open(dir, env(), false); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, ring := range rings {
		if ring == nil || !opens(t, rings[0], ring) {
			t.Errorf("process %d has another key", i)
		}
	}
}

func TestABrokenKeyFileIsNotReplaced(t *testing.T) {
	tests := map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"empty":   {"", 0o600, "key 1: must be id:base64"},
		"garbage": {"k1:c4n4ry", 0o600, "key 1: "},
		"open":    {"k1:" + keyText('a'), 0o644, "chmod 600"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "credential.key")
			if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
				t.Fatal(err)
			}
			_, err := keyring.Open(dir, env(), false)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "c4n4ry") {
				t.Errorf("got %v", err)
			}
			if got, _ := os.ReadFile(path); string(got) != tt.text {
				t.Error("the file was changed")
			}
		})
	}
}

func TestADataDirectoryThatCannotBeCreatedIsReported(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := keyring.Open(filepath.Join(file, "data"), env(), false)
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
}
