package mask

import (
	"strings"
	"unicode/utf8"
)

// view is a text with its escapes decoded, and the original position of each byte.
type view struct {
	text []byte
	at   []int32 // one more entry than text has bytes
}

// maxSlashes bounds the backslashes of an escape: JSON in JSON has several.
const maxSlashes = 8

// controls are the characters that JSON writes as a backslash and a letter.
var controls = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape decodes %XX, \uXXXX, controls and backslashes before / " and \. It returns nil for a
// text without escapes. An incomplete escape at the end of an incomplete text is omitted.
func unescape(text string, behind ending) *view {
	first := strings.IndexAny(text, `%\`)
	if first < 0 {
		return nil
	}
	v := view{make([]byte, 0, len(text)), make([]int32, 0, len(text)+1)}
	end, undone := len(text), false
	for i := 0; i < end; {
		var char [utf8.UTFMax]byte
		n, size, cut := 1, 1, false
		if char[0] = text[i]; char[0] == '%' || char[0] == '\\' {
			n, size, cut = escape(text[i:], &char)
		}
		if cut && behind != complete {
			end = i
			break
		}
		for _, b := range char[:size] {
			v.text, v.at = append(v.text, b), append(v.at, int32(i))
		}
		undone = undone || n > 1
		i += n
	}
	if !undone && end == len(text) {
		return nil
	}
	v.at = append(v.at, int32(end))
	return &v
}

// escape reads the escape at the beginning of text: its length, and the length of the character
// in char. cut means that it may be incomplete.
func escape(text string, char *[utf8.UTFMax]byte) (n, size int, cut bool) {
	char[0] = text[0]
	if text[0] == '%' {
		v, digits := hexDigits(text[1:], 2)
		if digits == 2 {
			char[0] = byte(v)
			return 3, 1, false
		}
		return 1, 1, len(text) == 1+digits
	}
	n = 1
	for n < len(text) && n < maxSlashes && text[n] == '\\' {
		n++
	}
	if n == len(text) {
		return n, 1, n < maxSlashes
	}
	switch text[n] {
	case '/', '"':
		char[0] = text[n]
		return n + 1, 1, false
	case 'b', 'f', 'n', 'r', 't':
		char[0] = controls[text[n]]
		return n + 1, 1, false
	case 'u':
		v, digits := hexDigits(text[n+1:], 4)
		if digits == 4 {
			return n + 5, utf8.EncodeRune(char[:], rune(v)), false
		}
		cut = len(text) == n+1+digits
	}
	return min(n, 2), 1, cut
}

// hexDigits reads at most the given number of digits.
func hexDigits(text string, most int) (v, digits int) {
	for digits < most && digits < len(text) {
		c := text[digits]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return v, digits
		}
		v = v<<4 | int(c)
		digits++
	}
	return v, digits
}
