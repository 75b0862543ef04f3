package blobstore_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"agent-stop-and-go/config/blobstore"
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

func TestAValueIsDecodedOnceWhileItIsKept(t *testing.T) {
	s := open(t, t.TempDir())
	const size = 8 << 20
	b, times := put(t, s, make([]byte, size)), 0
	decoded := func() any {
		v, err := s.Decoded(t.Context(), b, func(data []byte) (any, error) { times++; return len(data), nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if a, b := decoded(), decoded(); a != size || b != size || times != 1 {
		t.Errorf("%v and %v, decoded %d times", a, b, times)
	}
	for i := range blobstore.CacheSize/size - 2 { // with its decoded form it takes the room of three
		put(t, s, append(make([]byte, size), byte(i)))
	}
	if decoded(); times != 2 {
		t.Errorf("decoded %d times; it was to be forgotten", times)
	}
	wrong := b
	wrong.Size--
	if _, err := s.Decoded(t.Context(), wrong, func([]byte) (any, error) { return nil, nil }); err == nil {
		t.Error("an address of another size was taken for the same")
	}
	if _, err := s.Decoded(t.Context(), put(t, s, []byte("x")), func([]byte) (any, error) { return nil, os.ErrInvalid }); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
