// Package unified applies a unified diff of one file to a text, the way patch
// and git apply do, for patches that were written by a language model: with or
// without file headers, with wrong line counts, a little beside their place.
//
//	result, err := unified.Apply(ctx, old, patch)
//
// A hunk is tried first exactly where it says, then at growing distances from
// there, then with one and with two lines of outer context left out. What was
// needed is reported per hunk. Either every hunk applies or the error names the
// first one that does not.
//
// Whether the text ends in a line end stays as it was unless the patch says
// otherwise with "\ No newline at end of file". A patch with plain line ends
// applies to a text whose lines all end in CRLF, and the reverse.
//
// Map: parse.go reads the patch, place.go finds where a hunk goes, apply.go
// joins them.
package unified
