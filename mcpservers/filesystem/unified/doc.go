// Package unified applies a unified diff of one file to a text, the way patch and git apply do,
// for patches that were written by a language model: with or without file headers, with wrong
// line counts or slightly wrong positions.
//
//	result, err := unified.Apply(ctx, old, patch)
//
// A hunk is tried first at its stated position, then at growing distances from it, then without
// one and without two lines of outer context. The result has the adjustments of each hunk.
// Either all hunks are applied or the error names the first one that does not apply.
//
// A final newline stays present or absent unless the patch changes that with "\ No newline at
// end of file". A patch with LF applies to a text whose lines all end in CRLF, and the reverse.
//
// Map: parse.go reads the patch, place.go finds the positions of the hunks, apply.go applies
// them.
package unified
