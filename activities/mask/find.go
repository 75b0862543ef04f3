package mask

import (
	"cmp"
	"slices"
)

// span is a secret in a text.
type span struct {
	from, to int
	word     string
}

// ending says whether a text may be incomplete.
type ending int

const (
	mayContinue ending = iota // another piece may follow
	complete                  // the text is whole
	mayBeCut                  // the text may have been cut off, within a secret or an escape
)

// find returns the secrets in a text, sorted by their beginning. A secret in the text itself
// and one in the decoded text may overlap. At open begins the part of the text that is
// undecided until the text continues.
func (m *Mask) find(text string, behind ending) (found []span, open int) {
	found, open = m.scan(text, behind)
	plain := unescape(text, behind)
	if plain == nil {
		return found, open
	}
	more, until := m.scan(string(plain.text), behind)
	for _, s := range more {
		found = append(found, span{int(plain.at[s.from]), int(plain.at[s.to]), s.word})
		if behind == mayBeCut && s.to == len(plain.text) {
			found[len(found)-1].to = len(text) // including half an escape
		}
	}
	if behind == mayContinue {
		open = min(open, int(plain.at[until]))
	}
	slices.SortStableFunc(found, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	return found, open
}

// scan looks for patterns in a text without decoding escapes.
func (m *Mask) scan(text string, behind ending) (found []span, open int) {
	open = len(text)
	var lower, alphabet uint64 // the last eight bytes in each fold
	for i := 0; i < len(text); i++ {
		lower = lower<<8 | uint64(anyCase[text[i]])
		alphabet = alphabet<<8 | uint64(anyAlphabet[text[i]])
		if i < least-1 || !m.may(lower) && !m.may(alphabet) {
			continue
		}
		from := i - (least - 1)
		s, certain := m.longest(text, from, lower, alphabet, behind)
		if s.to == 0 {
			continue
		}
		if !certain && behind == mayContinue {
			return found, min(from, m.openFrom(text))
		}
		found = appendSpan(found, s)
		// Another secret may begin within the last bytes of this one.
		if next := s.to - window; next > from {
			i, lower, alphabet = next+least-2, folded(text, next, anyCase), folded(text, next, anyAlphabet)
		}
	}
	if behind == mayContinue {
		open = m.openFrom(text)
	}
	return found, open
}

// appendSpan appends a span to those that begin before it. Overlapping spans are merged: a
// secret that overlaps with itself would else be found at every byte.
func appendSpan(found []span, s span) []span {
	if n := len(found); n > 0 && s.from < found[n-1].to {
		found[n-1].to = max(found[n-1].to, s.to)
		return found
	}
	return append(found, s)
}

// folded returns the seven bytes at a position.
func folded(text string, from int, f *fold) (key uint64) {
	for _, b := range []byte(text[from : from+least-1]) {
		key = key<<8 | uint64(f[b])
	}
	return key
}

func (m *Mask) may(key uint64) bool { return m.filter[slot(key)/64]>>(slot(key)%64)&1 != 0 }

// longest returns the longest secret that begins at a position; its to is 0 if there is none.
// certain means that more text would not make it longer.
func (m *Mask) longest(text string, from int, lower, alphabet uint64, behind ending) (s span, certain bool) {
	certain = true
	for _, a := range []anchor{{anyCase, lower}, {anyAlphabet, alphabet}} {
		for _, n := range m.byAnchor[a] {
			p := &m.patterns[n]
			size, whole := p.match(text[from:])
			certain = certain && whole
			if size == 0 && !whole && behind == mayBeCut {
				size = len(text) - from
			}
			if size > 0 && from+size > s.to {
				s = span{from, from + size, p.word}
			}
		}
	}
	return s, certain
}

// match returns the length of a pattern's match at the beginning of a text, 0 if the lead does
// not match. whole means that more text would not change the result.
func (p *pattern) match(text string) (size int, whole bool) {
	for i := range len(p.lead) {
		if i == len(text) {
			return 0, false
		}
		if p.fold[text[i]] != p.lead[i] {
			return 0, true
		}
	}
	size = len(p.lead)
	for i := range len(p.rest) {
		if size == len(text) {
			return size, false
		}
		if p.fold[text[size]] != p.rest[i] {
			return size, true
		}
		size++
	}
	if !p.tail {
		return size, true
	}
	return p.end(text, size)
}

// end adds the last character of base64 and its padding.
func (p *pattern) end(text string, size int) (int, bool) {
	if size == len(text) {
		return size, false
	}
	if !inBase64[text[size]] {
		return size, true
	}
	size++
	for range 2 {
		if size == len(text) {
			return size, false
		}
		if text[size] != '=' {
			return size, true
		}
		size++
	}
	return size, true
}

// openFrom returns the first position in a text from which the rest may be the beginning of a
// pattern.
func (m *Mask) openFrom(text string) int {
	for from := max(0, len(text)-window+1); from < len(text); from++ {
		if !m.first[text[from]] {
			continue
		}
		for i := range m.patterns {
			if p := &m.patterns[i]; p.begins(text[from:]) {
				return from
			}
		}
	}
	return len(text)
}

// begins reports whether a text that is shorter than the lead is a prefix of it.
func (p *pattern) begins(text string) bool {
	if len(text) >= len(p.lead) {
		return false
	}
	for i := range len(text) {
		if p.fold[text[i]] != p.lead[i] {
			return false
		}
	}
	return true
}
