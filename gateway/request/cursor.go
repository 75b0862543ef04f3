package request

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
)

// EncodeCursor makes a cursor of Temporal's page token: the token behind its checksum, so
// that a mangled one is told from a fault of ours.
func EncodeCursor(token []byte) string {
	if len(token) == 0 {
		return ""
	}
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(token))
	return base64.RawURLEncoding.EncodeToString(append(sum, token...))
}

// DecodeCursor returns the page token of a cursor; "" has none.
func DecodeCursor(s string) (token []byte, ok bool) {
	if s == "" {
		return nil, true
	}
	data, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(data) < 5 {
		return nil, false
	}
	token = data[4:]
	return token, binary.BigEndian.Uint32(data) == crc32.ChecksumIEEE(token)
}
