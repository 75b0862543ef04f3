package mask

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// A long secret is found by windows of its forms. So a part of the secret that contains a
// window is found, too, and the cost of a pattern is bounded.
const (
	window     = 64
	maxWindows = 16 // windows of each form
)

// fold maps equivalent bytes to one of them.
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
	anyCase[' '] = '+' // a space in a query
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

// pattern is a form of a secret. Its lead, at most a window, has to match; the match continues
// as far as the text agrees with rest.
type pattern struct {
	fold       *fold
	lead, rest string // folded
	word       string
	// tail means that the pattern is base64 and that one more character may have bits of the
	// secret.
	tail bool
}

// patterns returns all forms of a secret.
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
	for _, text := range []string{s.value, strings.ToUpper(s.value), strings.ToLower(s.value)} { // for letters that fold does not map
		add(anyCase, text, false)
		add(anyCase, reversed(text), false)
	}
	if plain := unescape(s.value, complete); plain != nil {
		add(anyCase, string(plain.text), false)
	}
	add(anyCase, hex.EncodeToString([]byte(s.value)), false)
	for before := range 3 {
		core, tail := base64At(s.value, before)
		add(anyAlphabet, core, tail)
	}
	return out
}

// windows returns the patterns that find a long form.
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

// base64At returns the part of a text's base64 that depends only on a secret after the given
// number of bytes, and whether the next character has bits of the secret, too.
func base64At(secret string, before int) (core string, tail bool) {
	text := append(make([]byte, before), secret...)
	bits := 8 * len(text)
	return base64.RawStdEncoding.EncodeToString(text)[(8*before+5)/6 : bits/6], bits%6 != 0
}
