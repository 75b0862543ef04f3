package cosigner

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"agent-stop-and-go/workflows/credential/keyfile"
)

// Key countersigns: an Ed25519 key with the name of a witness.
type Key struct {
	Signer note.Signer
	// Public is the verifier key.
	Public string
}

// NewKey returns the text of a new private key for a witness, with its public key in a second line.
func NewKey(name string) (string, error) {
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		return "", err
	}
	public, err = fnote.VKeyToCosignatureV1(public)
	return private + "\n" + public, err
}

// ParseKey reads the text of NewKey: both keys, in two lines or with a space between them.
func ParseKey(text string) (Key, error) {
	f := strings.Fields(text)
	if len(f) != 2 {
		return Key{}, errors.New("it must have a private and a public key, as agent audit key --witness --new prints them")
	}
	signer, err := fnote.NewSignerForCosignatureV1(f[0])
	if err != nil {
		return Key{}, errors.New("its private key cannot be read") // without the key
	}
	verifier, err := Verifier(f[1])
	if err != nil {
		return Key{}, fmt.Errorf("its public key: %w", err)
	}
	const probe = "x\n0\nx\n"
	signature, err := signer.Sign([]byte(probe))
	if err != nil || signer.KeyHash() != verifier.KeyHash() || !verifier.Verify([]byte(probe), signature) {
		return Key{}, errors.New("its private and its public key do not belong together")
	}
	return Key{Signer: signer, Public: f[1]}, nil
}

// KeyFile reads the key in a file, which only its owner may read. It makes the key if there is no such
// file.
func KeyFile(path, name string) (Key, error) {
	text, err := keyfile.Open(path, func() (string, error) { return NewKey(name) })
	if err != nil {
		return Key{}, err
	}
	k, err := ParseKey(text)
	if err != nil {
		return Key{}, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}
