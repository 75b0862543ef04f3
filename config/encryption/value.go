package encryption

import "bytes"

// magic begins each encrypted value. No JSON and no text begins like it, but a file of a caller may.
const magic = "\x00agent/encrypted/1\x00"

// purpose keeps an encrypted value from being taken for a payload.
var purpose = []byte("value")

// Seal encrypts a value of the blob store.
func (c *Codec) Seal(value []byte) ([]byte, error) {
	if c == nil {
		return value, nil
	}
	out := append(append([]byte(magic), byte(len(c.first))), c.first...) // keyring limits IDs to 32 bytes
	return c.ciphers[c.first].Seal(out, nil, value, purpose), nil
}

// Open decrypts what Seal has encrypted. Another value is returned as it is. It fails with a
// *MissingKeyError or ErrUnreadable.
func (c *Codec) Open(stored []byte) ([]byte, error) {
	keyID, data, sealed := cutKeyID(stored)
	switch {
	case !sealed:
		return stored, nil
	case data == nil:
		return nil, ErrUnreadable
	}
	return c.decrypted(keyID, data, purpose)
}

// KeyID returns the ID of the key of a stored value; it is "" if the value is cut off before its end. A value
// that is not encrypted is not sealed, but one that begins as if it were may be in clear.
func KeyID(stored []byte) (id string, sealed bool) {
	id, _, sealed = cutKeyID(stored)
	return id, sealed
}

// Current reports whether a stored value is as Seal stores it: with the first key or, without
// keys, in clear.
func (c *Codec) Current(stored []byte) bool {
	keyID, _, sealed := cutKeyID(stored)
	if c == nil {
		return !sealed
	}
	return sealed && keyID == c.first
}

// cutKeyID cuts what precedes the encrypted data, which are nil if they are missing.
func cutKeyID(stored []byte) (keyID string, data []byte, sealed bool) {
	rest, sealed := bytes.CutPrefix(stored, []byte(magic))
	if !sealed || len(rest) == 0 || len(rest) <= 1+int(rest[0]) {
		return "", nil, sealed
	}
	n := 1 + int(rest[0])
	return string(rest[1:n]), rest[n:], true
}
