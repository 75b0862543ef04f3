package mask

import "strings"

// fragment replaces the parts that Pieces hides.
const fragment = "***"

// Pieces is Excerpt for the text of an error, in which hiding too much does no harm: it also
// hides every eight consecutive bytes of a secret, and secrets that are shorter.
func (m *Mask) Pieces(text string) string {
	if m == nil {
		return text
	}
	out, _, _ := m.pass(text, 0, mayBeCut, func(between string) string {
		for _, s := range m.secrets {
			between = cutOut(between, s.value)
		}
		return between
	})
	return out
}

// cutOut hides every run of text that is also a run of the secret, so that a key
// cut in pieces by an error body is found as well.
func cutOut(text, secret string) string {
	size := min(least, len(secret))
	var b strings.Builder
	for i := 0; i < len(text); {
		n := common(text[i:], secret, size)
		if n == 0 {
			b.WriteByte(text[i])
			i++
			continue
		}
		b.WriteString(fragment)
		i += n
	}
	return b.String()
}

// common returns the length of the longest prefix of text that occurs in secret, or 0 if it is
// shorter than size.
func common(text, secret string, size int) int {
	if len(text) < size || !strings.Contains(secret, text[:size]) {
		return 0
	}
	n := size
	for n < len(text) && strings.Contains(secret, text[:n+1]) {
		n++
	}
	return n
}
