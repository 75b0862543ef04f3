package credential

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// KeySize is the size of a key in bytes.
const KeySize = 32

const version = "v1"

// Errors of Open. They are shown to people and never contain the token.
var (
	ErrUnknownKey = errors.New("sealed with a key that is not configured here")
	ErrUnreadable = errors.New("cannot be opened for this conversation")
	ErrExpired    = errors.New("has expired")
)

// Token is a caller's bearer token. Its JSON is empty, so that it reaches no log.
type Token struct {
	Bearer string `json:"-"`
	// ExpiresAt is zero if the token does not have an expiry.
	ExpiresAt time.Time `json:"-"`
	// Caller is the key of the identity of who sent the token (contract.Identity.Key), empty
	// without authentication.
	Caller string `json:"-"`
}

// content is the sealed content of a token.
type content struct {
	Bearer    string    `json:"b"`
	ExpiresAt time.Time `json:"e,omitzero"`
	Caller    string    `json:"c,omitempty"`
}

// encoding refuses nonzero padding bits, so that every envelope has only one form.
var encoding = base64.RawURLEncoding.Strict()

// lastSecond is the last second that RFC 3339 can express, in the year 9999.
const lastSecond = 253402300799

// NewToken takes the expiry from the "exp" claim if bearer is a JWT (RFC 7519 §4.1.4). It does
// not check the signature: the servers for which the token is issued do.
func NewToken(bearer string) Token {
	t := Token{Bearer: bearer}
	parts := strings.Split(bearer, ".")
	if len(parts) != 3 {
		return t
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return t
	}
	var claims struct {
		Exp float64 `json:"exp"` // fractions and exponents are allowed
	}
	if json.Unmarshal(payload, &claims) == nil && claims.Exp > 0 && claims.Exp <= lastSecond {
		t.ExpiresAt = time.Unix(int64(claims.Exp), 0).UTC()
	}
	return t
}

// String hides the token from logs and format verbs.
func (Token) String() string { return "[bearer token]" }

// GoString hides the token from %#v.
func (Token) GoString() string { return "[bearer token]" }

// Key is a named key of KeySize bytes. Its ID contains no dots.
type Key struct {
	ID     string
	Secret []byte `json:"-"`
}

// String hides the key.
func (k Key) String() string { return "[key " + k.ID + "]" }

// GoString hides the key.
func (k Key) GoString() string { return k.String() }

// Keyring seals and proves with its first key, and opens and checks with any. It is safe for
// concurrent use.
type Keyring struct {
	primary string
	aeads   map[string]cipher.AEAD
	proofs  map[string]func(text []byte) []byte
}

// NewKeyring makes a keyring; the first key is the one that seals.
func NewKeyring(keys ...Key) (*Keyring, error) {
	if len(keys) == 0 {
		return nil, errors.New("a keyring needs a key")
	}
	r := &Keyring{primary: keys[0].ID, aeads: map[string]cipher.AEAD{}, proofs: map[string]func([]byte) []byte{}}
	for _, k := range keys {
		if k.ID == "" || strings.Contains(k.ID, ".") {
			return nil, fmt.Errorf("key id %q: must be set and hold no dot", k.ID)
		}
		if _, taken := r.aeads[k.ID]; taken {
			return nil, fmt.Errorf("key %s: there are two of this id", k.ID)
		}
		if len(k.Secret) != KeySize {
			return nil, fmt.Errorf("key %s: %d bytes, expected %d", k.ID, len(k.Secret), KeySize)
		}
		block, err := aes.NewCipher(k.Secret)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", k.ID, err)
		}
		if r.aeads[k.ID], err = cipher.NewGCM(block); err != nil {
			return nil, fmt.Errorf("key %s: %w", k.ID, err)
		}
		r.proofs[k.ID] = proofKey(k)
	}
	return r, nil
}

// IDs returns the IDs of the keys, first that of the one that seals.
func (r *Keyring) IDs() []string {
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(r.aeads)), func(id string) bool { return id == r.primary })
	return append([]string{r.primary}, others...)
}

// NewKey makes a random key with a random ID.
func NewKey() (Key, error) {
	buf := make([]byte, KeySize+4)
	if _, err := rand.Read(buf); err != nil {
		return Key{}, fmt.Errorf("make a key: %w", err)
	}
	return Key{ID: hex.EncodeToString(buf[KeySize:]), Secret: buf[:KeySize]}, nil
}

// Seal encrypts a token for one conversation: "v1.<key>.<nonce and ciphertext>".
func (r *Keyring) Seal(conversationID string, t Token) (string, error) {
	plain, err := json.Marshal(content(t))
	if err != nil {
		return "", errors.New("encode the token")
	}
	aead := r.aeads[r.primary]
	nonce := make([]byte, aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return "", fmt.Errorf("make a nonce: %w", err)
	}
	box := aead.Seal(nonce, nonce, plain, []byte(conversationID))
	return version + "." + r.primary + "." + encoding.EncodeToString(box), nil
}

// Open decrypts what Seal made for the same conversation. It fails with ErrUnknownKey,
// ErrUnreadable or ErrExpired; a token that has expired is returned without its Bearer.
func (r *Keyring) Open(conversationID, sealed string, now time.Time) (Token, error) {
	parts := strings.Split(sealed, ".")
	if len(parts) != 3 || parts[0] != version {
		return Token{}, ErrUnreadable
	}
	aead, ok := r.aeads[parts[1]]
	if !ok {
		return Token{}, ErrUnknownKey
	}
	box, err := encoding.DecodeString(parts[2])
	if err != nil || len(box) < aead.NonceSize() {
		return Token{}, ErrUnreadable
	}
	n := aead.NonceSize()
	plain, err := aead.Open(nil, box[:n], box[n:], []byte(conversationID))
	if err != nil {
		return Token{}, ErrUnreadable
	}
	var c content
	if json.Unmarshal(plain, &c) != nil {
		return Token{}, ErrUnreadable
	}
	t := Token(c)
	if !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt) {
		t.Bearer = ""
		return t, ErrExpired
	}
	return t, nil
}

type contextKey struct{}

// NewContext returns a context that carries a sealed token to an activity.
func NewContext(ctx context.Context, sealed string) context.Context {
	return context.WithValue(ctx, contextKey{}, sealed)
}

// FromContext returns the sealed token the activity was called with, or "".
func FromContext(ctx context.Context) string {
	s, _ := ctx.Value(contextKey{}).(string)
	return s
}
