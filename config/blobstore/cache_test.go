package blobstore_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract"
)

func TestTheCacheDropsTheLeastRecentlyUsed(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	const size = 8 << 20
	value := func(i int) []byte {
		data := make([]byte, size)
		copy(data, fmt.Sprint(i))
		return data
	}
	first := put(t, s, value(0))
	second := put(t, s, value(1))
	for i := 2; i < blobstore.CacheSize/size; i++ {
		put(t, s, value(i))
	}
	if _, err := s.Get(t.Context(), first); err != nil { // used: now second is the oldest
		t.Fatal(err)
	}
	put(t, s, value(100)) // one too many
	for _, b := range []string{file(dir, first), file(dir, second)} {
		if err := os.Remove(b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Get(t.Context(), first); err != nil {
		t.Errorf("the value used last was forgotten: %v", err)
	}
	if _, err := s.Get(t.Context(), second); err == nil {
		t.Error("the oldest value is still in memory")
	}
}

func TestAComputedValueIsKept(t *testing.T) {
	s := open(t, t.TempDir())
	b, times := put(t, s, []byte("value")), 0
	const size = blobstore.CacheSize / 8
	computed := func(b contract.Blob, kind string) any {
		v, err := s.Computed(b, kind, func() (any, int, error) { times++; return kind + b.SHA256, size, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if x, y := computed(b, "x"), computed(b, "y"); x == y || x != computed(b, "x") || y != computed(b, "y") || times != 2 {
		t.Errorf("%v and %v, computed %d times, expected 2", x, y, times)
	}
	wrong := b
	wrong.Size--
	if computed(wrong, "x"); times != 3 {
		t.Error("an address of another size was taken for the same")
	}
	for i := range blobstore.CacheSize / size {
		put(t, s, append(make([]byte, size), byte(i)))
	}
	if computed(b, "x"); times != 4 {
		t.Errorf("computed %d times, expected 4: the value does not count for the limit", times)
	}
	if _, err := s.Computed(b, "z", func() (any, int, error) { return nil, 0, os.ErrInvalid }); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	if computed(b, "z"); times != 5 {
		t.Error("a failure was kept")
	}
}

func TestAComputedValueThatFillsTheCacheIsNotKept(t *testing.T) {
	s := open(t, t.TempDir())
	b, times := put(t, s, []byte("value")), 0
	for range 2 {
		if _, err := s.Computed(b, "x", func() (any, int, error) { times++; return 1, blobstore.CacheSize/4 + 1, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if times != 2 {
		t.Errorf("computed %d times", times)
	}
}
