package statement

import "strings"

// nesting are words that can make a tree one level deeper, besides operators.
var nesting = func() map[string]bool {
	out := map[string]bool{}
	for _, word := range strings.Fields(`all and any array as at between case collate cross distinct else except exists from full ilike in inner
		intersect is isnull join lateral left like minus not notnull operator or over row select similar some then union using when with within`) {
		out[word] = true
	}
	return out
}()

// Depth bounds how deep the tree of a text can be, without parsing it: the depth of its brackets,
// and the number of operators and words that could each be a level. Commas, names and literals
// make no levels.
func (s Syntax) Depth(text string) (brackets, chain int) {
	open := 0
	for text != "" {
		kind, size := s.next(text)
		word := text[:size]
		text = text[size:]
		switch {
		case kind != plain:
		case word == "(" || word == "[":
			open++
			brackets = max(brackets, open)
		case word == ")" || word == "]":
			open--
		case strings.Contains("+-*/<>=~!@#%^&|?:", word[:1]):
			chain++ // each character: - + - + 1 has four levels, with or without spaces
		case nesting[strings.ToLower(word)]:
			chain++
		}
	}
	return brackets, chain
}
