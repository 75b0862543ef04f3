package blobstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract"
)

type claims interface {
	Claim(ctx context.Context, name, owner string) (string, error)
	Release(ctx context.Context, name string) error
}

func TestAClaimIsExclusiveAndDurable(t *testing.T) {
	url := "file://" + t.TempDir()
	open := func(url string) claims {
		s, err := blobstore.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	memory := blobstore.Memory()
	for name, stores := range map[string][2]claims{
		"folder": {open(url), open(url)}, "memory": {memory, memory},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := stores[0], stores[1]
			for _, step := range []struct {
				by          claims
				owner, want string
			}{{first, "a", "a"}, {second, "b", "a"}, {first, "a", "a"}} {
				if got, err := step.by.Claim(t.Context(), "k", step.owner); err != nil || got != step.want {
					t.Errorf("%s claims: %q, %v", step.owner, got, err)
				}
			}
			for range 2 {
				if err := first.Release(t.Context(), "k"); err != nil {
					t.Error(err)
				}
			}
			if got, err := second.Claim(t.Context(), "k", "b"); err != nil || got != "b" {
				t.Errorf("after it was released: %q, %v", got, err)
			}
		})
	}
}

func TestOneOfManyGetsAClaim(t *testing.T) {
	s, err := blobstore.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var mu sync.Mutex
	got := map[string]int{}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			holder, err := s.Claim(context.Background(), "k", fmt.Sprint(i))
			mu.Lock()
			defer mu.Unlock()
			if got[holder]++; err != nil {
				t.Error(err)
			}
		})
	}
	if wg.Wait(); len(got) != 1 {
		t.Errorf("holders: %v", got)
	}
}

// synced records what a store syncs to disk, by its path below the store's folder. Names of
// temporary files end in "…".
func synced(t *testing.T, dir string, s *blobstore.Store) *[]string {
	t.Helper()
	var names []string
	s.OnSync(func(name string) error {
		rel, err := filepath.Rel(dir, name)
		if draft, _, is := strings.Cut(rel, "."); is && draft != "" {
			rel = draft + "…"
		}
		names = append(names, rel)
		return err
	})
	return &names
}

// A power cut may remove the end of a history, including its call. Then only the claim shows
// that the call was sent.
func TestAClaimIsOnDiskWhenItIsReturned(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	names := synced(t, dir, s)
	key := claimFile("k")
	folder := filepath.Dir(key)
	want := []string{key + "…", folder, "claims", "."}
	if _, err := s.Claim(t.Context(), "k", "a"); err != nil || !slices.Equal(*names, want) {
		t.Errorf("synced %q, want %q (%v)", *names, want, err)
	}
	// The earlier process was killed right after it had created the file.
	after := open(t, dir)
	names = synced(t, dir, after)
	want = []string{key + "…", key, folder, "claims", "."}
	if got, err := after.Claim(t.Context(), "k", "b"); err != nil || got != "a" || !slices.Equal(*names, want) {
		t.Errorf("%q has it, synced %q, want %q (%v)", got, *names, want, err)
	}
}

func TestAClaimThatIsNotOnDiskIsAnError(t *testing.T) {
	for name, broken := range map[string]string{"file": "claims/", "folder": "."} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			failure := errors.New("the disk is gone")
			s.OnSync(func(path string) error {
				rel, err := filepath.Rel(dir, path)
				if rel == broken || strings.HasPrefix(rel, broken) && strings.HasSuffix(broken, "/") {
					err = failure
				}
				return err
			})
			if got, err := s.Claim(t.Context(), "k", "a"); !errors.Is(err, failure) || got != "" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestFoldersOfValuesAreSyncedOnce(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	names := synced(t, dir, s)
	b := put(t, s, []byte("hello"))
	folder := b.SHA256[:2]
	file := filepath.Join(folder, b.SHA256[2:]) + "…"
	if err := os.Remove(filepath.Join(dir, folder, b.SHA256[2:])); err != nil {
		t.Fatal(err)
	}
	put(t, s, []byte("hello"))
	if want := []string{file, folder, ".", file, folder}; !slices.Equal(*names, want) {
		t.Errorf("synced %q, want %q", *names, want)
	}
}

// claimFile returns the path of a claim below the store's folder.
func claimFile(name string) string {
	sum := contract.Hash([]byte(name))
	return filepath.Join("claims", sum[:2], sum[2:])
}

func BenchmarkClaim(b *testing.B) {
	s, err := blobstore.Open(b.Context(), "file://"+b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	owner := strings.Repeat("x", 120)
	for i := 0; b.Loop(); i++ {
		if _, err := s.Claim(b.Context(), fmt.Sprint(i), owner); err != nil {
			b.Fatal(err)
		}
	}
}
