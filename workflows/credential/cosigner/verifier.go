package cosigner

import (
	"errors"
	"fmt"
	"strings"

	fnote "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

// Verifier reads the public key of a witness, of type 0x04 or 0x06.
func Verifier(public string) (note.Verifier, error) {
	public = strings.TrimSpace(public)
	v, err := fnote.NewVerifierForCosignatureV1(public)
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(public, "+")
	id, _, _ := strings.Cut(rest, "+")
	if id != fmt.Sprintf("%08x", v.KeyHash()) { // as that of a key of type 0x01, which signs without a time
		return nil, errors.New("its ID is not that of its name and a key for timestamped signatures, of type 0x04 or 0x06")
	}
	return v, nil
}
