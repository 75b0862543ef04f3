package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// Mask hides secrets. Make it with New.
type Mask struct {
	secrets  []Secret
	patterns []pattern
	// byAnchor finds patterns by the first bytes of their leads. filter excludes most bytes
	// with which no pattern begins.
	byAnchor map[anchor][]int32
	filter   [filterBits / 64]uint64
	// first is set for the first bytes of patterns.
	first [256]bool
}

// anchor is the first eight bytes of a lead, in its fold.
type anchor struct {
	fold *fold
	key  uint64
}

const filterBits = 1 << 13

// slot returns the bit of a key in the filter.
func slot(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 >> (64 - 13) }

// New makes a Mask of these secrets, nil if there is nothing to hide. The time it takes is
// proportional to their length.
func New(secrets ...Secret) *Mask {
	m := &Mask{byAnchor: map[anchor][]int32{}}
	type form struct {
		fold       *fold
		lead, rest string
	}
	seen := map[form]bool{}
	for _, s := range secrets {
		if s.value == "" || slices.Contains(m.secrets, s) {
			continue
		}
		m.secrets = append(m.secrets, s)
		for _, p := range patterns(s) {
			if f := (form{p.fold, p.lead, p.rest}); !seen[f] {
				seen[f] = true
				m.add(p)
			}
		}
	}
	if len(m.secrets) == 0 {
		return nil
	}
	return m
}

func (m *Mask) add(p pattern) {
	var key uint64
	for _, b := range []byte(p.lead[:least]) {
		key = key<<8 | uint64(b)
	}
	at := anchor{p.fold, key}
	m.byAnchor[at] = append(m.byAnchor[at], int32(len(m.patterns)))
	m.filter[slot(key)/64] |= 1 << (slot(key) % 64)
	for b := range m.first {
		m.first[b] = m.first[b] || p.fold[b] == p.lead[0]
	}
	m.patterns = append(m.patterns, p)
}

// With returns a Mask that hides these secrets, too.
func (m *Mask) With(secrets ...Secret) *Mask {
	if m == nil {
		return New(secrets...)
	}
	if !slices.ContainsFunc(secrets, func(s Secret) bool { return s.value != "" }) {
		return m
	}
	return New(slices.Concat(m.secrets, secrets)...)
}

// Text returns a text with its secrets hidden.
func (m *Mask) Text(text string) string {
	out, _, _ := m.pass(text, 0, complete, unchanged)
	return out
}

// Excerpt is Text for a text that may be cut off, such as the body of an error: it also hides
// the first eight bytes or more of a secret, in any form, at the end.
func (m *Mask) Excerpt(text string) string {
	out, _, _ := m.pass(text, 0, mayBeCut, unchanged)
	return out
}

// Shows reports whether a text contains a secret.
func (m *Mask) Shows(text string) bool {
	if m == nil {
		return false
	}
	found, _ := m.find(text, complete)
	return len(found) > 0
}

// Bytes is Text for data. Without a secret it returns data itself.
func (m *Mask) Bytes(data []byte) []byte {
	if m == nil {
		return data
	}
	if text := string(data); m.Shows(text) {
		return []byte(m.Text(text))
	}
	return data
}

// JSON hides secrets in the strings of a document, in any escaped form. A string of base64
// stays base64. Everything else is unchanged, including the digits of numbers and the order of
// keys.
func (m *Mask) JSON(data []byte) []byte {
	if m == nil {
		return data
	}
	var out bytes.Buffer
	for rest := data; len(rest) > 0; {
		begin := bytes.IndexByte(rest, '"')
		if begin < 0 {
			out.Write(rest)
			break
		}
		end := begin + stringLength(rest[begin:])
		out.Write(rest[:begin])
		out.Write(m.quoted(rest[begin:end]))
		rest = rest[end:]
	}
	return out.Bytes()
}

// stringLength returns the length of the JSON string at the beginning of data.
func stringLength(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

func (m *Mask) quoted(literal []byte) []byte {
	var s string
	if len(literal) < least || json.Unmarshal(literal, &s) != nil || !m.Shows(s) {
		return literal
	}
	hidden, ok := m.encoded(s)
	if !ok {
		hidden = m.Text(s)
	}
	out, _ := json.Marshal(hidden) // a string can be encoded
	return out
}

// encoded hides secrets in data that a text has as base64, such as a file, and encodes it
// again.
func (m *Mask) encoded(text string) (hidden string, ok bool) {
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		data, err := e.DecodeString(text)
		if err != nil || !m.Shows(string(data)) {
			continue
		}
		hidden = e.EncodeToString(m.Bytes(data))
		return hidden, !m.Shows(hidden)
	}
	return "", false
}

func unchanged(text string) string { return text }

// pass hides the secrets in a text, and edits the text between them. The first covered bytes
// belong to a secret whose word has already been written. If the text may continue, shown is
// its decided part, open the position after that, and over the number of bytes from there that
// are covered.
func (m *Mask) pass(text string, covered int, behind ending, edit func(string) string) (shown string, open, over int) {
	if m == nil {
		return text, len(text), 0
	}
	found, open := m.find(text, behind)
	if len(found) == 0 && covered == 0 {
		return edit(text[:open]), open, 0
	}
	var out strings.Builder
	last := span{to: covered}
	for _, s := range found {
		if s.from >= open { // it may be part of a longer secret
			break
		}
		if s.from < last.to {
			last.to = max(last.to, s.to)
			continue
		}
		out.WriteString(edit(text[last.to:s.from]))
		out.WriteString(s.word)
		last = s
	}
	if last.to < open {
		out.WriteString(edit(text[last.to:open]))
	}
	return out.String(), open, max(0, last.to-open)
}
