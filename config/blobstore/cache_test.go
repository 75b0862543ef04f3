package blobstore_test

import (
	"fmt"
	"os"
	"testing"

	"agent-stop-and-go/config/blobstore"
)

func TestTheCacheForgetsWhatWasUsedLongestAgo(t *testing.T) {
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
