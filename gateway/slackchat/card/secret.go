package card

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
)

// secret matches names of arguments whose values do not belong into a chat, in small letters and
// without anything between them; within matches them in a text that contains JSON.
var (
	secret = regexp.MustCompile(`passw|passphrase|pwd|secret|token|apikey|privatekey|accesskey|authorization|bearer|credential|cookie`)
	within = regexp.MustCompile(`(?i)"[^"]*(passw|passphrase|secret|token|api_?key|private_?key|authorization|credential|cookie)[^"]*"\s*:`)
)

// hasSecret reports whether a JSON text has a key that is the name of a secret, at any depth and
// however it is written, also in JSON that is a value. In doubt it does.
func hasSecret(raw []byte) bool {
	if len(raw) == 0 {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	found, err := secretIn(d)
	return found || err != nil || within.Match(raw)
}

// secretIn reads one value. It does not decode values as a whole: of two with the same key that
// would keep one.
func secretIn(d *json.Decoder) (bool, error) {
	t, err := d.Token()
	if err != nil {
		return false, err
	}
	if text, ok := t.(string); ok {
		return within.MatchString(text), nil
	}
	if _, opens := t.(json.Delim); !opens {
		return false, nil
	}
	for d.More() {
		if t == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				return false, err
			}
			if name, _ := key.(string); secret.MatchString(letters(name)) {
				return true, nil
			}
		}
		if found, err := secretIn(d); found || err != nil {
			return found, err
		}
	}
	_, err = d.Token() // the end
	return false, err
}

func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
