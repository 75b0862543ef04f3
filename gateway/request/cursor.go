package request

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
)

// EncodeCursor makes a cursor from Temporal's page token: a checksum and the token. The
// checksum distinguishes a damaged cursor from an internal error.
func EncodeCursor(token []byte) string {
	if len(token) == 0 {
		return ""
	}
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(token))
	return base64.RawURLEncoding.EncodeToString(append(sum, token...))
}

// DecodeCursor returns the page token in a cursor. An empty cursor has none.
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
