package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Prefix begins every key, so that scanners of secrets recognise it.
const Prefix = "asg_"

// Errors of a key that a caller sends.
var (
	ErrUnknown = errors.New("the key is not known, or was revoked")
	ErrExpired = errors.New("the key has expired")
)

// ErrNotNoted is the error of a revocation that does not keep the name from others.
var ErrNotNoted = errors.New("the key is revoked, but its name could not be noted: repair the file before you add keys")

// ErrFormer is the error of a new key with the name of one that was revoked.
var ErrFormer = errors.New("the name was somebody's before, with whose conversations it comes")

// Key is a key as the file has it.
type Key struct {
	// Name is the subject of the caller.
	Name string `json:"name"`
	// ID is the visible part of the key. It says which key a text is, and is no secret.
	ID string `json:"id"`
	// Hash is the SHA-256 of the whole text, in hex.
	Hash    string    `json:"sha256"`
	Scopes  []string  `json:"scopes"`
	Created time.Time `json:"created"`
	// Expires is zero if the key does not expire.
	Expires time.Time `json:"expires,omitzero"`
}

// Stub says which key somebody has shown, and proves that it was shown. Whoever has it cannot
// make the key of it.
type Stub struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
}

// StubOf returns the stub of the text of a key. It is that of no key if the text is none.
func StubOf(text string) Stub { return Stub{idOf(text), hash(text)} }

// Expired reports whether the key has ended.
func (k Key) Expired(now time.Time) bool { return !k.Expires.IsZero() && !now.Before(k.Expires) }

// generate returns the text of a new key and its visible part: asg_ID_SECRET.
func generate() (text, id string) {
	var random [4 + 32]byte
	_, _ = rand.Read(random[:]) // never fails, see crypto/rand.Read
	id = hex.EncodeToString(random[:4])
	return Prefix + id + "_" + hex.EncodeToString(random[4:]), id
}

// idOf returns the visible part of a text that may be a key, or "".
func idOf(text string) string {
	id, secret, ok := strings.Cut(strings.TrimPrefix(text, Prefix), "_")
	if !ok || len(id) != 8 || len(secret) != 64 {
		return ""
	}
	return id
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

func (k Key) validate() error {
	if !validName.MatchString(k.Name) {
		return fmt.Errorf("name %q: expected 1 to 64 letters, digits and . _ @ -, the first a letter or digit", k.Name)
	}
	if len(k.Scopes) == 0 {
		return fmt.Errorf("a key needs at least one scope: %s", strings.Join(contract.Scopes(), ", "))
	}
	for _, scope := range k.Scopes {
		if !slices.Contains(contract.Scopes(), scope) {
			return fmt.Errorf("unknown scope %q: expected any of %s", scope, strings.Join(contract.Scopes(), ", "))
		}
	}
	if b, err := hex.DecodeString(k.Hash); err != nil || len(b) != sha256.Size {
		return fmt.Errorf("key %s: sha256 is not one", k.Name)
	}
	return nil
}
