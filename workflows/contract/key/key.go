// Package key makes one text of the name of a caller, or of a group, and of who vouches for it. It
// is stored, searched and compared, and is the same in every version.
package key

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// longest is the length of a keyword in Temporal's search attributes on SQL databases.
const longest = 255

// Of returns the key of a caller; see Key of a contract.Identity.
func Of(issuer, subject string) string { return bound(escape(issuer) + " " + escape(subject)) }

// OfGroup returns the key of a group; see GroupKeys of a contract.Identity.
func OfGroup(issuer, group string) string {
	return bound(capital.ReplaceAllStringFunc(escape(issuer)+" "+escape(group), func(c string) string {
		if len(c) > 1 { // an escape
			return c
		}
		return fmt.Sprintf("%%%02X", c)
	}))
}

var capital = regexp.MustCompile("%[0-9A-F]{2}|[A-Z]")

// bound cuts a long key, and ends it in a hash.
func bound(key string) string {
	if len(key) <= longest {
		return key
	}
	hash := sha256.Sum256([]byte(key))
	return key[:longest-33] + "~" + hex.EncodeToString(hash[:])[:32]
}

// escape replaces all bytes but letters, digits and common signs by %XX.
func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._:/@+=|", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
