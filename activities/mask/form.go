package mask

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// A long secret is looked for by windows of its forms: so a part of it is found that has
// a window in it, and what a pattern costs is bounded.
const (
	window     = 64
	maxWindows = 16 // of each form
)

// fold maps bytes that count as the same to one of them.
type fold [256]byte

var (
	anyCase     = newFold(func(b byte) byte { return b })
	anyAlphabet = newFold(func(b byte) byte { return b })
	inBase64    [256]bool
)

func newFold(f func(byte) byte) *fold {
	var out fold
	for i := range out {
		out[i] = f(byte(i))
	}
	return &out
}

func init() {
	for c := byte('A'); c <= 'Z'; c++ {
		anyCase[c] = c - 'A' + 'a'
	}
	anyCase[' '] = '+' // of a query
	anyAlphabet['-'], anyAlphabet['_'] = '+', '/'
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		inBase64[c] = true
	}
}

func (f *fold) of(s string) string {
	out := []byte(s)
	for i, b := range out {
		out[i] = f[b]
	}
	return string(out)
}

// pattern is what is looked for. Lead is its beginning, at most a window; what follows
// in the text and agrees with rest belongs to it.
type pattern struct {
	fold       *fold
	lead, rest string // folded
	word       string
	// tail: it is base64, and one more character may have bits of the secret.
	tail bool
}

// patterns are all forms of a secret.
func patterns(s Secret) []pattern {
	if len(s.value) < least {
		return nil
	}
	var out []pattern
	add := func(f *fold, text string, tail bool) {
		if len(text) < least {
			return
		}
		out = append(out, windows(pattern{fold: f, lead: f.of(text), word: s.word, tail: tail})...)
	}
	for _, text := range []string{s.value, strings.ToUpper(s.value), strings.ToLower(s.value)} { // of letters that fold does not know
		add(anyCase, text, false)
		add(anyCase, reversed(text), false)
	}
	if plain := unescape(s.value, nothing); plain != nil {
		add(anyCase, string(plain.text), false)
	}
	add(anyCase, hex.EncodeToString([]byte(s.value)), false)
	for before := range 3 {
		core, tail := base64At(s.value, before)
		add(anyAlphabet, core, tail)
	}
	return out
}

// windows are the patterns that a long form is looked for by.
func windows(p pattern) []pattern {
	text := p.lead
	if len(text) <= window {
		return []pattern{p}
	}
	step := max(window, (len(text)-window+maxWindows-2)/(maxWindows-1))
	var out []pattern
	for at := 0; at+window <= len(text); at += step {
		p.lead, p.rest = text[at:at+window], text[at+window:]
		out = append(out, p)
	}
	return out
}

func reversed(s string) string {
	if !utf8.ValidString(s) {
		b := []byte(s)
		slices.Reverse(b)
		return string(b)
	}
	r := []rune(s)
	slices.Reverse(r)
	return string(r)
}

// base64At is what of the base64 of a text depends on a secret alone that has so many
// bytes before it, and whether the character behind that has bits of it too.
func base64At(secret string, before int) (core string, tail bool) {
	text := append(make([]byte, before), secret...)
	bits := 8 * len(text)
	return base64.RawStdEncoding.EncodeToString(text)[(8*before+5)/6 : bits/6], bits%6 != 0
}
