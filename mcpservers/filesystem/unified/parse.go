package unified

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Errors about a patch as a whole.
var (
	ErrNoHunks      = errors.New("no hunks found in patch")
	ErrSeveralFiles = errors.New("patch changes more than one file")
)

// hunk is one fragment of a patch, with its number from 1.
type hunk struct {
	*gitdiff.TextFragment
	number    int
	recounted bool
}

var headerPattern = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// parse returns the hunks of a patch in its order, and whether the patch creates the file.
func parse(ctx context.Context, patch string) (hunks []hunk, creates bool, err error) {
	if patch != "" && !strings.HasSuffix(patch, "\n") {
		patch += "\n"
	}
	lines := strings.SplitAfter(patch, "\n")
	lines = lines[:len(lines)-1]
	for i := 0; i < len(lines); {
		if !strings.HasPrefix(lines[i], "@@ -") {
			if len(hunks) > 0 && startsFile(lines[i:]) {
				return nil, false, ErrSeveralFiles
			}
			creates = creates || len(hunks) == 0 && strings.HasPrefix(lines[i], "--- /dev/null")
			i++
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		next, size, err := parseHunk(lines[i:], len(hunks)+1)
		if err != nil {
			return nil, false, err
		}
		hunks = append(hunks, next)
		i += size
	}
	if len(hunks) == 0 {
		return nil, false, ErrNoHunks
	}
	return hunks, creates, nil
}

// parseHunk reads the hunk at the beginning of lines and returns its number of lines.
func parseHunk(lines []string, number int) (hunk, int, error) {
	match := headerPattern.FindStringSubmatch(lines[0])
	if match == nil {
		return hunk{}, 0, fmt.Errorf("hunk %d: header %q is not of the form @@ -1,2 +1,3 @@", number, strings.TrimRight(lines[0], "\r\n"))
	}
	size, declared := declaredLength(lines[1:], count(match[2]), count(match[4]))
	if !declared {
		size = bodyLength(lines[1:])
	}
	body := lines[1 : 1+size]
	fragment, err := fragment(match[1], match[3], body)
	if err != nil {
		return hunk{}, 0, fmt.Errorf("hunk %d: %w", number, err)
	}
	return hunk{TextFragment: fragment, number: number, recounted: !declared}, 1 + size, nil
}

// count parses a line count of a header. An absent count is 1, an invalid one -1.
func count(text string) int {
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// declaredLength returns the number of lines of the body by the counts of its header. It
// returns false if the counts are wrong: lines are missing, or more lines of a hunk follow.
func declaredLength(lines []string, before, after int) (int, bool) {
	i := 0
	for ; i < len(lines) && (before > 0 || after > 0); i++ {
		switch lines[i][0] {
		case ' ', '\n', '\r':
			before, after = before-1, after-1
		case '-':
			before--
		case '+':
			after--
		case '\\':
		default:
			return 0, false
		}
	}
	if before != 0 || after != 0 {
		return 0, false
	}
	if i < len(lines) && lines[i][0] == '\\' {
		i++
	}
	return i, endsHunk(lines[i:])
}

func endsHunk(lines []string) bool {
	if len(lines) == 0 || startsFile(lines) || strings.TrimRight(lines[0], "\r\n") == "-- " {
		return true
	}
	return !strings.ContainsRune(" +-\\", rune(lines[0][0]))
}

func startsFile(lines []string) bool {
	return strings.HasPrefix(lines[0], "diff --git ") ||
		len(lines) > 1 && strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ ")
}

// bodyLength returns the number of lines that look like the body of a hunk. Empty lines at the
// end belong to the text around the patch, not to the file.
func bodyLength(lines []string) int {
	n := 0
	for n < len(lines) && strings.ContainsRune(" +-\\\r\n", rune(lines[n][0])) && !startsFile(lines[n:]) {
		n++
	}
	for n > 0 && strings.TrimRight(lines[n-1], "\r\n") == "" {
		n--
	}
	return n
}

// fragment parses the body with the library, under a header with correct counts.
func fragment(oldStart, newStart string, body []string) (*gitdiff.TextFragment, error) {
	var text strings.Builder
	before, after := 0, 0
	for _, line := range body {
		switch line[0] {
		case '\n', '\r':
			text.WriteByte(' ') // an empty context line without its leading space
			before, after = before+1, after+1
		case ' ':
			before, after = before+1, after+1
		case '-':
			before++
		case '+':
			after++
		}
		text.WriteString(line)
	}
	header := fmt.Sprintf("--- a\n+++ b\n@@ -%s,%d +%s,%d @@\n", oldStart, before, newStart, after)
	files, _, err := gitdiff.Parse(strings.NewReader(header + text.String()))
	if err != nil {
		return nil, stripLineNumber(err)
	}
	if len(files) != 1 || len(files[0].TextFragments) != 1 {
		return nil, errors.New("not a hunk of a unified diff")
	}
	found := files[0].TextFragments[0]
	return found, checkLineEnds(found)
}

var libraryPrefix = regexp.MustCompile(`^gitdiff: line \d+: `)

// stripLineNumber removes line numbers, because they refer to a text that the caller does not know.
func stripLineNumber(err error) error {
	return errors.New(libraryPrefix.ReplaceAllString(err.Error(), ""))
}

// checkLineEnds refuses a line without newline before the last line, because the next line
// would be joined to it.
func checkLineEnds(f *gitdiff.TextFragment) error {
	lastOld, lastNew := false, false
	for _, line := range f.Lines {
		if line.Old() && lastOld || line.New() && lastNew {
			return errors.New("a line marked as having no newline at end of file is not the last")
		}
		lastOld = lastOld || line.Old() && line.NoEOL()
		lastNew = lastNew || line.New() && line.NoEOL()
	}
	return nil
}
