package api

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// escapedTemplate escapes what is between the {parameters} of a path, but for what is escaped already.
func escapedTemplate(template string) string {
	var out strings.Builder
	from := 0
	for _, at := range placeholder.FindAllStringIndex(template, -1) {
		out.WriteString(escapedLiteral(template[from:at[0]]) + template[at[0]:at[1]])
		from = at[1]
	}
	return out.String() + escapedLiteral(template[from:])
}

// literal are the characters that a path may have as they are (RFC 3986 §3.3), besides letters and digits.
// Braces are refused later.
const literal = "/-._~!$&'()*+,;=:@{}"

func escapedLiteral(text string) string {
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]),
			'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(literal, c) >= 0:
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// under returns the address of an escaped path under a base. The path is sent as it is here, or not at all:
// what the parameters put into it must not lead out of the operation's path.
func under(base *url.URL, at string) (*url.URL, error) {
	target := *base
	escaped := strings.TrimSuffix(target.EscapedPath(), "/") + at
	unescaped, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, fmt.Errorf("the path %s is malformed", at)
	}
	if target.Path, target.RawPath = unescaped, escaped; target.EscapedPath() != escaped {
		return nil, fmt.Errorf("the path %s cannot be sent as it is", at)
	}
	if climbs(target.EscapedPath()) {
		return nil, errors.New("no part of the path may be one dot or two")
	}
	return &target, nil
}

// climbs reports whether a path has a segment of one dot or two, as it is or for those who decode it before
// they split it, once or twice. Some take \ for /, and leave out what follows a semicolon.
func climbs(path string) bool {
	for range 3 {
		for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			if segment, _, _ = strings.Cut(segment, ";"); segment == "." || segment == ".." {
				return true
			}
		}
		decoded, err := url.PathUnescape(path)
		if err != nil || decoded == path {
			return false
		}
		path = decoded
	}
	return false
}
