package merkle

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Key signs checkpoints: an Ed25519 key with the name of the log.
type Key struct {
	Signer note.Signer
	// Public is the verifier key, NAME+HASH+BASE64.
	Public string
}

// NewKey returns the text of a new private key for a log.
func NewKey(origin string) (string, error) {
	private, public, err := note.GenerateKey(rand.Reader, origin)
	return private + "\n" + public, err
}

// ParseKey reads the text of NewKey: the private and the public key, in two lines or with a space
// between them.
func ParseKey(text string) (Key, error) {
	f := strings.Fields(text)
	if len(f) != 2 {
		return Key{}, errors.New("it must have a private and a public key, as agent audit key --new prints them")
	}
	signer, err := note.NewSigner(f[0])
	if err != nil {
		return Key{}, errors.New("its private key cannot be read") // without the key
	}
	verifier, err := note.NewVerifier(f[1])
	if err != nil {
		return Key{}, fmt.Errorf("its public key: %w", err)
	}
	signature, err := signer.Sign([]byte("x"))
	if err != nil || signer.KeyHash() != verifier.KeyHash() || !verifier.Verify([]byte("x"), signature) {
		return Key{}, errors.New("its private and its public key do not belong together")
	}
	return Key{Signer: signer, Public: f[1]}, nil
}

// Verifiers reads public keys. Every key must have the name of the log.
func Verifiers(origin string, public ...string) (note.Verifiers, error) {
	var out []note.Verifier
	for _, p := range public {
		v, err := note.NewVerifier(strings.TrimSpace(p))
		if err != nil {
			return nil, fmt.Errorf("public key %q: %w", p, err)
		}
		if v.Name() != origin {
			return nil, fmt.Errorf("public key of %s: the log is %s", v.Name(), origin)
		}
		out = append(out, v)
	}
	return note.VerifierList(out...), nil
}

// Checkpoint is a state of a log.
type Checkpoint struct {
	Origin string
	Size   int64
	Root   tlog.Hash
}

// text is what is signed.
func (c Checkpoint) text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root)
}

func (c Checkpoint) sign(signers ...note.Signer) ([]byte, error) {
	return note.Sign(&note.Note{Text: c.text()}, signers...)
}

// errCheckpoint is wrapped by the errors of ParseCheckpoint.
var errCheckpoint = errors.New("no checkpoint")

// ParseCheckpoint reads a note that one of the keys has signed.
func ParseCheckpoint(text []byte, origin string, keys note.Verifiers) (c Checkpoint, err error) {
	n, err := note.Open(text, keys)
	if err != nil {
		return c, fmt.Errorf("%w: %w", errCheckpoint, err)
	}
	for _, signature := range n.Sigs { // each checkpoint has one text
		if _, err := base64.StdEncoding.Strict().DecodeString(signature.Base64); err != nil {
			return c, fmt.Errorf("%w: signature %q", errCheckpoint, signature.Base64)
		}
	}
	lines := strings.SplitN(n.Text, "\n", 4)
	if len(lines) != 4 || lines[0] != origin {
		return c, fmt.Errorf("%w of %s", errCheckpoint, origin)
	}
	c = Checkpoint{Origin: lines[0]}
	if c.Size, err = strconv.ParseInt(lines[1], 10, 64); err != nil || c.Size < 0 || strconv.FormatInt(c.Size, 10) != lines[1] {
		return c, fmt.Errorf("%w: size %q", errCheckpoint, lines[1])
	}
	if c.Root, err = tlog.ParseHash(lines[2]); err != nil {
		return c, fmt.Errorf("%w: root %q", errCheckpoint, lines[2])
	}
	return c, nil
}
