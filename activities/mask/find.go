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

// ending says what comes behind a text.
type ending int

const (
	unknown   ending = iota // more may come
	nothing                 // the text is whole
	something               // the text may have been cut off, within a secret or an escape
)

// find returns the secrets in a text, sorted by where they begin; one of the text as it is
// and one behind escapes may overlap. From open on, the text may hold more of a secret than
// can be known before it goes on.
func (m *Mask) find(text string, behind ending) (found []span, open int) {
	found, open = m.scan(text, behind)
	plain := unescape(text, behind)
	if plain == nil {
		return found, open
	}
	more, until := m.scan(string(plain.text), behind)
	for _, s := range more {
		found = append(found, span{int(plain.at[s.from]), int(plain.at[s.to]), s.word})
		if behind == something && s.to == len(plain.text) {
			found[len(found)-1].to = len(text) // with half an escape
		}
	}
	if behind == unknown {
		open = min(open, int(plain.at[until]))
	}
	slices.SortStableFunc(found, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	return found, open
}

// scan looks for patterns in a text as it is.
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
		if !certain && behind == unknown {
			return found, min(from, m.undecided(text))
		}
		found = extended(found, s)
		// Another secret may begin within the last bytes of this one.
		if next := s.to - window; next > from {
			i, lower, alphabet = next+least-2, folded(text, next, anyCase), folded(text, next, anyAlphabet)
		}
	}
	if behind == unknown {
		open = m.undecided(text)
	}
	return found, open
}

// extended adds a span to those that begin before it. Secrets that overlap are one: one that
// repeats itself would else be found at every byte.
func extended(found []span, s span) []span {
	if n := len(found); n > 0 && s.from < found[n-1].to {
		found[n-1].to = max(found[n-1].to, s.to)
		return found
	}
	return append(found, s)
}

// folded are the seven bytes from a place on.
func folded(text string, from int, f *fold) (key uint64) {
	for _, b := range []byte(text[from : from+least-1]) {
		key = key<<8 | uint64(f[b])
	}
	return key
}

func (m *Mask) may(key uint64) bool { return m.filter[slot(key)/64]>>(slot(key)%64)&1 != 0 }

// longest is the longest secret that begins at a place, with to 0 if there is none.
// Certain says that it is no longer if the text goes on.
func (m *Mask) longest(text string, from int, lower, alphabet uint64, behind ending) (s span, certain bool) {
	certain = true
	for _, a := range []anchor{{anyCase, lower}, {anyAlphabet, alphabet}} {
		for _, n := range m.byAnchor[a] {
			p := &m.patterns[n]
			size, whole := p.match(text[from:])
			certain = certain && whole
			if size == 0 && !whole && behind == something {
				size = len(text) - from
			}
			if size > 0 && from+size > s.to {
				s = span{from, from + size, p.word}
			}
		}
	}
	return s, certain
}

// match is how much of a text a pattern takes from its beginning, 0 if it does not have
// its lead. Whole says that this would not change if the text went on.
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

// undecided is the first place of a text at whose end a pattern may have begun.
func (m *Mask) undecided(text string) int {
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

// begins reports whether a text, which is shorter than the lead, is its beginning.
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
