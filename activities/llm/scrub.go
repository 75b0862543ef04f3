package llm

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxMessage = 500 // bytes of an Error's Message
	// minLeak is how long a piece of a key must be to be worth hiding.
	minLeak = 8
	mask    = "***"
)

// scrubber removes secrets from texts that come from outside.
type scrubber []string

// scrubber knows the key, and what headers and the address hold of credentials.
func (e endpoint) scrubber() scrubber {
	secrets := append(scrubber{e.key, url.QueryEscape(e.key)}, e.Secrets...)
	if u, err := url.Parse(e.baseURL); err == nil {
		if password, ok := u.User.Password(); ok {
			secrets = append(secrets, password)
		}
		for _, values := range u.Query() {
			secrets = append(secrets, values...)
		}
	}
	return secrets
}

// clean returns text on one line, without secrets or long pieces of them.
func (s scrubber) clean(text string) string {
	text = flat(text)
	for _, secret := range s {
		text = hide(text, secret)
	}
	return text
}

// safe returns err, or nil when its text holds a secret.
func (s scrubber) safe(err error) error {
	if text := flat(err.Error()); s.clean(text) != text {
		return nil
	}
	return err
}

// hide masks every run of text that is also a run of the secret, so that a key
// cut in pieces by an error body is found as well.
func hide(text, secret string) string {
	if secret == "" {
		return text
	}
	least := min(minLeak, len(secret))
	var b strings.Builder
	for i := 0; i < len(text); {
		n := common(text[i:], secret, least)
		if n == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(mask)
		i += n
	}
	return b.String()
}

// common is the length of the longest prefix of text, at least least bytes,
// that occurs in secret; otherwise zero.
func common(text, secret string, least int) int {
	if len(text) < least || !strings.Contains(secret, text[:least]) {
		return 0
	}
	n := least
	for n < len(text) && strings.Contains(secret, text[:n+1]) {
		n++
	}
	return n
}

func oneLine(text string) string { return cut(flat(text), maxMessage) }

func flat(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "�"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// cut shortens text to at most limit bytes, on the border of a character.
func cut(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
