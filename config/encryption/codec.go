package encryption

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"maps"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"agent-stop-and-go/workflows/credential"
)

// Metadata of an encrypted payload.
const (
	Encoding      = "binary/encrypted"
	MetadataKeyID = "encryption-key-id"
)

// ErrUnreadable means that a value was changed, or encrypted with another key of the same ID.
var ErrUnreadable = errors.New("an encrypted value cannot be decrypted: it was changed, or its key has the ID of another one")

// MissingKeyError means that a value is encrypted with a key that is not configured.
type MissingKeyError struct{ ID string }

func (e *MissingKeyError) Error() string {
	return fmt.Sprintf("a value is encrypted with the key %q, which is not in encryption.keys of this process: add it there, after the first one", e.ID)
}

// Codec encrypts with its first key, and decrypts with any. It implements
// converter.PayloadCodec. A nil Codec has no keys: it encrypts nothing. It is safe for concurrent
// use.
type Codec struct {
	first   string
	ciphers map[string]cipher.AEAD
}

var _ converter.PayloadCodec = (*Codec)(nil)

// New returns the codec with the keys, at least one.
func New(keys ...credential.Key) (*Codec, error) {
	if len(keys) == 0 {
		return nil, errors.New("there is no key")
	}
	c := &Codec{first: keys[0].ID, ciphers: map[string]cipher.AEAD{}}
	for _, k := range keys {
		if _, taken := c.ciphers[k.ID]; taken {
			return nil, fmt.Errorf("two keys have the ID %s", k.ID)
		}
		if len(k.Secret) != credential.KeySize {
			return nil, fmt.Errorf("key %s has %d bytes instead of %d", k.ID, len(k.Secret), credential.KeySize)
		}
		block, err := aes.NewCipher(k.Secret)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", k.ID, err)
		}
		if c.ciphers[k.ID], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, fmt.Errorf("key %s: %w", k.ID, err)
		}
	}
	return c, nil
}

// Retirable reports whether the codec has the key of an ID, and writes with another one.
func (c *Codec) Retirable(id string) bool {
	return c != nil && c.ciphers[id] != nil && c.first != id
}

// IDs returns the IDs of the keys, first that of the one that encrypts.
func (c *Codec) IDs() []string {
	if c == nil {
		return nil
	}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(c.ciphers)), func(id string) bool { return id == c.first })
	return append([]string{c.first}, others...)
}

// Encode implements converter.PayloadCodec. What is encrypted stays as it is.
func (c *Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	if c == nil {
		return payloads, nil
	}
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if out[i] = p; p == nil || isEncrypted(p) {
			continue
		}
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encrypt a value: %w", err)
		}
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(Encoding), MetadataKeyID: []byte(c.first)},
			Data:     c.ciphers[c.first].Seal(nil, nil, plain, nil),
		}
	}
	return out, nil
}

// Decode implements converter.PayloadCodec. What is not encrypted stays as it is. It fails with a
// *MissingKeyError or ErrUnreadable.
func (c *Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		var err error
		if out[i], err = c.decoded(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *Codec) decoded(p *commonpb.Payload) (*commonpb.Payload, error) {
	if !isEncrypted(p) {
		return p, nil
	}
	plain, err := c.decrypted(string(p.GetMetadata()[MetadataKeyID]), p.GetData(), nil)
	if err != nil {
		return nil, err
	}
	out := &commonpb.Payload{}
	if proto.Unmarshal(plain, out) != nil {
		return nil, ErrUnreadable
	}
	return out, nil
}

func (c *Codec) decrypted(keyID string, data, purpose []byte) ([]byte, error) {
	if c == nil || c.ciphers[keyID] == nil {
		return nil, &MissingKeyError{keyID}
	}
	plain, err := c.ciphers[keyID].Open(nil, nil, data, purpose)
	if err != nil {
		return nil, ErrUnreadable
	}
	return plain, nil
}

// lenient decodes what it can, and leaves the rest as it is.
type lenient struct{ *Codec }

func (l lenient) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		decoded, err := l.decoded(p)
		if err != nil {
			decoded = p
		}
		out[i] = decoded
	}
	return out, nil
}

func isEncrypted(p *commonpb.Payload) bool {
	return string(p.GetMetadata()[converter.MetadataEncoding]) == Encoding
}
