package blobstore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"agent-stop-and-go/config/blobstore"
)

type claims interface {
	Claim(ctx context.Context, name, owner string) (string, error)
	Release(ctx context.Context, name string) error
}

func TestAClaimIsHadOnceAndOutlivesTheStore(t *testing.T) {
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
