package store

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"
)

// Extend returns the content of a file with an addition. It refuses files that are not text, which an addition
// would break.
func Extend(old, addition []byte) ([]byte, error) {
	if !IsText(old) {
		return nil, errors.New("the file is not text in UTF-8: only text is appended to")
	}
	return slices.Concat(old, addition), nil
}

// IsText reports whether content is text in UTF-8.
func IsText(content []byte) bool { return utf8.Valid(content) && bytes.IndexByte(content, 0) < 0 }
