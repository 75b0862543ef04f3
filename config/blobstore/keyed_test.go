package blobstore_test

import "testing"

func TestTheValuesOfAKeyAreCounted(t *testing.T) {
	dir := t.TempDir()
	put(t, sealed(t, dir), []byte("in clear"))
	put(t, sealed(t, dir), lookalike("of the key z"))
	put(t, sealed(t, dir, "z"), []byte("of the key z"))
	setAside(t, dir, put(t, sealed(t, dir, "z"), []byte("this one too")))
	put(t, sealed(t, dir, "a"), []byte("of the key a"))
	for id, want := range map[string]int{"z": 2, "a": 1, "b": 0} {
		if n, err := sealed(t, dir, "a").EncryptedWith(t.Context(), id); err != nil || n != want {
			t.Errorf("%s: %d, %v, want %d", id, n, err, want)
		}
	}
}
