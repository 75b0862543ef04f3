package store

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of names, in bytes, and of the depth of a path.
const (
	maxName  = 255
	maxPath  = 1000
	maxDepth = 50
)

// Characters that look like a slash or a backslash, and like a dot, and that compatibility normalization (NFKC)
// does not turn into one.
const (
	likeSlash = "\u0337\u0338\u2044\u2215\u2216\u2571\u2572\u27cb\u27cd\u29f5\u29f8\u29f9"
	likeDot   = ".\u00b7\u02d9\u0660\u06d4\u06f0\u0701\u0702\u22c5\u30fb\ua4f8\ua60e"
)

// CheckName reports what is wrong with the name of a file or of a folder. A name is one that people can read as
// what it is: valid UTF-8 in NFC without control and invisible characters, and without what is, or looks like, a
// separator of paths.
func CheckName(name string) error {
	wide := norm.NFKC.String(name)
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name has %d bytes, at most %d are allowed", len(name), maxName)
	case !utf8.ValidString(name):
		return errors.New("the name is not valid UTF-8")
	case !norm.NFC.IsNormalString(name):
		return fmt.Errorf("the name is not in the normal form NFC: write %q", norm.NFC.String(name))
	case strings.ContainsAny(wide, `/\`) || strings.ContainsAny(name, likeSlash):
		return fmt.Errorf("the name %q has a slash or a backslash, or what looks like one", name)
	case strings.Trim(wide, likeDot) == "":
		return fmt.Errorf("the name %q consists of dots", name)
	case strings.TrimSpace(name) != name || strings.TrimSpace(wide) != wide:
		return fmt.Errorf("the name %q begins or ends with a space", name)
	}
	for _, r := range name {
		if unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || r == unicode.ReplacementChar {
			return fmt.Errorf("the name %q has the invisible character %U", name, r)
		}
	}
	return nil
}

// TrashFolder is where stores without a trash of their own keep deleted files. No path leads into it.
const TrashFolder = ".mcp-drive-trash"

// CleanPath checks a path below the folder, and returns it. A path is refused, not corrected: it is relative,
// each part is a name, and the first one is not [TrashFolder].
func CleanPath(given string) (string, error) {
	switch {
	case len(given) > maxPath:
		return "", fmt.Errorf("the path has %d bytes, at most %d are allowed", len(given), maxPath)
	case strings.HasPrefix(given, "/"):
		return "", errors.New("the path begins with a slash: paths are relative to the configured folder")
	}
	parts := strings.Split(given, "/")
	if len(parts) > maxDepth {
		return "", fmt.Errorf("the path has more than %d parts", maxDepth)
	}
	for _, part := range parts {
		if err := CheckName(part); err != nil {
			return "", fmt.Errorf("path %q: %w", given, err)
		}
	}
	if strings.EqualFold(parts[0], TrashFolder) {
		return "", ErrNotFound
	}
	return given, nil
}

// CleanFolder is CleanPath for a folder: it may end with a slash, and is "" for the configured folder.
func CleanFolder(given string) (string, error) {
	given = strings.TrimSuffix(given, "/")
	if given == "" || given == "." {
		return "", nil
	}
	return CleanPath(given)
}

// Join is the path of a name in a folder.
func Join(folder, name string) string { return strings.TrimPrefix(path.Join(folder, name), "/") }

// FolderOf returns the folder of a path, "" for the configured one.
func FolderOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

// Matches reports whether a name contains a text, in any case.
func Matches(name, text string) bool {
	return strings.Contains(strings.ToLower(norm.NFC.String(name)), strings.ToLower(norm.NFC.String(text)))
}
