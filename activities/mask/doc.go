// Package mask hides known secrets in what comes from outside: the words of models,
// tool servers and other agents, who know keys and tokens of ours because they were
// sent them.
//
//	m := mask.New(append(mask.Header("Bearer k3y-of-the-server"), mask.Bearer(token))...)
//	text = m.Text(text)
//
// A secret is found in these forms, alone or in the middle of others:
//
//	as it is, reversed, and as hexadecimal digits, in any case of its letters
//	base64 of either alphabet, padded or not, at each of the three alignments
//	any of these with some or all characters as %XX, \u00XX, or behind a backslash
//
// A far end that wants to give a secret away can always write it in another way. The
// mask is for those that say back what they were sent, in an error, in a log or out of
// politeness.
//
// secret.go says what is secret, form.go makes the patterns of a secret, mask.go finds
// them, view.go undoes escapes, stream.go does the same for texts that come in pieces, and
// piece.go looks for fragments, in errors. What comes in over a connection that may break, or
// is an extract that somebody else has made, is passed through Excerpt: a secret may end there
// in the middle.
//
// All methods take a nil Mask for one that hides nothing, and are safe for concurrent
// use, except those of a Stream.
package mask
