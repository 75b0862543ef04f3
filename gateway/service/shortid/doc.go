// Package shortid gives conversations short IDs, such as #1a2b: the first digits of their UUIDs.
//
// A short ID is derived and not stored. In lists it has as many digits as tell one conversation
// from all others that the caller sees, with few exceptions, and never fewer than 4: the number of
// digits grows with the number of conversations, as abbreviations of commits do. The beginning of
// an ID stays good for as long as no other conversation begins like it; after that it is ambiguous,
// and the error names the candidates.
//
// Resolve looks among the conversations that the caller sees, so it tells nobody about others. It
// finds a new conversation as soon as lists have it. A full ID is not looked up.
package shortid
