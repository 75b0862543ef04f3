// Package mask hides known secrets in texts from outside: from models, tool servers and other
// agents. They know our keys and tokens because requests contain them.
//
//	m := mask.New(append(mask.Header("Bearer k3y-of-the-server"), mask.Bearer(token))...)
//	text = m.Text(text)
//
// A secret is found in these forms, alone or in the middle of others:
//
//	unchanged, reversed, and as hexadecimal digits, ignoring case
//	base64 of either alphabet, padded or not, at each of the three alignments
//	any of these with some or all characters as %XX, \u00XX, or after a backslash
//
// A hostile peer can always encode a secret in another way. The mask is for those that merely
// repeat what they received, for example in an error or a log.
//
// secret.go defines secrets, form.go makes the patterns of a secret, find.go finds them,
// mask.go replaces them, view.go decodes escapes, stream.go masks texts that arrive in pieces,
// and piece.go finds fragments in errors. Use Excerpt for a text that may end in the middle of
// a secret, because a connection broke or the text is an extract.
//
// A nil Mask hides nothing. All methods are safe for concurrent use, except those of a Stream.
package mask
