package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// InlineLimit is the size in bytes up to which a value stays in history. Larger values go to
// the blob store. It is small because one turn may have hundreds of tool results.
const InlineLimit = 2 << 10

const previewLimit = 240

var sumPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Blob is the address of a value in the content-addressed store.
type Blob struct {
	SHA256  string `json:"blob"` // 64 lower-case hex digits
	Size    int64  `json:"size"` // bytes
	Preview string `json:"preview,omitempty"`
}

// NewBlob returns the address of data.
func NewBlob(data []byte) Blob {
	return Blob{SHA256: Hash(data), Size: int64(len(data)), Preview: preview(data)}
}

// Valid reports whether the address is well formed. Check it before using it as a path.
func (b Blob) Valid() bool { return sumPattern.MatchString(b.SHA256) && b.Size >= 0 }

// Hash returns the SHA-256 of data in lower-case hex.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// preview returns the beginning of data, cut between runes. Bytes that are not text are
// omitted.
func preview(data []byte) string {
	if len(data) > previewLimit {
		cut := previewLimit
		for cut > previewLimit-utf8.UTFMax && !utf8.RuneStart(data[cut]) {
			cut--
		}
		data = data[:cut]
	}
	return string(bytes.ToValidUTF8(data, nil))
}

// Text is a string that may be in the blob store. On the wire it is a JSON string, or an object
// with the blob's address.
type Text struct {
	Inline string
	Blob   *Blob
}

// Inline returns s as a Text that stays in history.
func Inline(s string) Text { return Text{Inline: s} }

// IsZero reports whether the text is empty; encoding/json uses it for omitzero.
func (t Text) IsZero() bool { return t.Inline == "" && t.Blob == nil }

// Short returns the text itself, or the beginning of a text in the blob store.
func (t Text) Short() string {
	if t.Blob == nil {
		return t.Inline
	}
	return fmt.Sprintf("%s… (%d bytes)", t.Blob.Preview, t.Blob.Size)
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if t.Blob != nil {
		return json.Marshal(t.Blob)
	}
	return json.Marshal(t.Inline)
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	*t = Text{}
	if b, ok := asBlob(data); ok {
		t.Blob = b
		return nil
	}
	return json.Unmarshal(data, &t.Inline)
}

// JSON is a JSON value that may be in the blob store. On the wire it is the value itself, or an
// object with the blob's address.
type JSON struct {
	Raw  json.RawMessage
	Blob *Blob
}

// IsZero reports whether there is no value.
func (j JSON) IsZero() bool { return len(j.Raw) == 0 && j.Blob == nil }

// MarshalJSON implements json.Marshaler. An absent value is null.
func (j JSON) MarshalJSON() ([]byte, error) {
	switch {
	case j.Blob != nil:
		return json.Marshal(j.Blob)
	case len(j.Raw) == 0:
		return []byte("null"), nil
	}
	return j.Raw, nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (j *JSON) UnmarshalJSON(data []byte) error {
	*j = JSON{}
	if b, ok := asBlob(data); ok {
		j.Blob = b
		return nil
	}
	if !bytes.Equal(data, []byte("null")) {
		j.Raw = bytes.Clone(data)
	}
	return nil
}

// LooksLikeBlob reports whether a value would be decoded as an address. Such a value must be
// stored in the blob store whatever its size.
func LooksLikeBlob(data []byte) bool {
	_, ok := asBlob(data)
	return ok
}

func asBlob(data []byte) (*Blob, bool) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var b Blob
	if err := dec.Decode(&b); err != nil || !b.Valid() {
		return nil, false
	}
	return &b, true
}
