package merkle

import (
	"fmt"

	"agent-stop-and-go/workflows/credential/keyfile"
)

// KeyFile reads the key in a file, which only its owner may read. It makes the key if there is no
// such file.
func KeyFile(path, origin string) (Key, error) {
	text, err := keyfile.Open(path, func() (string, error) { return NewKey(origin) })
	if err != nil {
		return Key{}, err
	}
	return keyIn(path, text)
}

// ReadKeyFile reads the key in a file, which only its owner may read.
func ReadKeyFile(path string) (Key, error) {
	text, err := keyfile.Read(path)
	if err != nil {
		return Key{}, err
	}
	return keyIn(path, text)
}

func keyIn(path, text string) (Key, error) {
	k, err := ParseKey(text)
	if err != nil {
		return Key{}, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}
