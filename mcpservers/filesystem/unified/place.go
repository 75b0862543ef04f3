package unified

import (
	"context"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// maxFuzz is the number of outer context lines that may differ, as in patch(1).
const maxFuzz = 2

// MismatchError reports a difference between the text and a hunk. Expected and Got are
// descriptions: quoted lines, or words such as "end of file".
type MismatchError struct {
	Hunk, Line    int
	Expected, Got string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("hunk %d does not match at line %d (expected %s, got %s)", e.Hunk, e.Line, e.Expected, e.Got)
}

// placement is the position of a hunk: its first kept line is line at (from 0), and head and
// tail lines of context are ignored.
type placement struct{ at, head, tail, fuzz int }

// finder places hunks in order. next is the first line after the previous hunk, and drift is
// the offset of the previous hunk from its stated position.
type finder struct {
	ctx         context.Context
	lines       []string
	next, drift int
	compared    int // lines since the last check of ctx
}

// place finds the nearest position with the least fuzz. The error is that of the context, or a
// *MismatchError for the stated position.
func (f *finder) place(h hunk) (placement, error) {
	wanted := int(h.OldPosition) - 1
	if h.OldLines == 0 {
		wanted++ // without old lines the position is that of the previous line
	}
	for fuzz := 0; fuzz <= maxFuzz; fuzz++ {
		p, ok := trim(h, fuzz)
		if !ok {
			break
		}
		found, err := f.search(h, p, wanted+f.drift+p.head)
		if err != nil {
			return p, err
		}
		if found >= 0 {
			p.at = found
			return p, nil
		}
	}
	return placement{}, f.mismatch(h, max(0, wanted))
}

// trim ignores context lines for a level of fuzz, from the longer side first, as patch(1) does.
// It reports false if no old line with text would remain.
func trim(h hunk, fuzz int) (placement, bool) {
	head, tail := int(h.LeadingContext), int(h.TrailingContext)
	longer := max(head, tail)
	p := placement{fuzz: fuzz, head: max(0, head+fuzz-longer), tail: max(0, tail+fuzz-longer)}
	if fuzz == 0 {
		return p, true
	}
	if fuzz > longer {
		return p, false
	}
	for _, line := range h.Lines[p.head : len(h.Lines)-p.tail] {
		if line.Old() && strings.TrimSpace(line.Line) != "" {
			return p, true
		}
	}
	return p, false
}

// search tries the wanted line, then one line after it, one before, two after and so on. It
// returns -1 if the hunk fits nowhere. A hunk without old lines is only tried at its own
// position.
func (f *finder) search(h hunk, p placement, wanted int) (int, error) {
	old := oldLines(h.Lines[p.head : len(h.Lines)-p.tail])
	last := len(f.lines) - len(old)
	if len(old) == 0 {
		if wanted < f.next || wanted > last || !f.fits(h, p, old, wanted) {
			return -1, nil
		}
		return wanted, nil
	}
	wanted = min(max(wanted, f.next), max(last, f.next))
	for distance := 0; wanted+distance <= last || wanted-distance >= f.next; distance++ {
		if err := f.check(); err != nil {
			return -1, err
		}
		if at := wanted + distance; at <= last && f.fits(h, p, old, at) {
			return at, nil
		}
		if at := wanted - distance; at >= f.next && at <= last && f.fits(h, p, old, at) {
			return at, nil
		}
	}
	return -1, nil
}

// check checks the context rarely enough that the cost is negligible.
func (f *finder) check() error {
	if f.compared++; f.compared < 1<<16 {
		return nil
	}
	f.compared = 0
	return f.ctx.Err()
}

func (f *finder) fits(h hunk, p placement, old []string, at int) bool {
	for i, line := range old {
		if f.lines[at+i] != line {
			f.compared += i
			return false
		}
	}
	// A line without newline can only become the last one.
	return at+len(old) == len(f.lines) || !endsFile(h.Lines[p.head:len(h.Lines)-p.tail])
}

// endsFile reports whether the new lines have one without newline, which must be the last line
// of the file.
func endsFile(lines []gitdiff.Line) bool {
	for _, line := range lines {
		if line.New() && line.NoEOL() {
			return true
		}
	}
	return false
}

func oldLines(lines []gitdiff.Line) []string {
	var old []string
	for _, line := range lines {
		if line.Old() {
			old = append(old, line.Line)
		}
	}
	return old
}

// mismatch describes the first difference at the stated position.
func (f *finder) mismatch(h hunk, at int) error {
	old := oldLines(h.Lines)
	for i, line := range old {
		if at+i >= len(f.lines) {
			return &MismatchError{h.number, at + i + 1, quote(line), "end of file"}
		}
		if got := f.lines[at+i]; got != line {
			return &MismatchError{h.number, at + i + 1, quoteDifference(line, got), quoteDifference(got, line)}
		}
	}
	if at+len(old) < f.next || at < f.next {
		return &MismatchError{h.number, at + 1, "lines of its own", "lines that the hunk before changed"}
	}
	if at+len(old) >= len(f.lines) {
		return &MismatchError{h.number, at + len(old) + 1, "a line before", "end of file"}
	}
	return &MismatchError{h.number, at + len(old) + 1, "end of file", quote(f.lines[at+len(old)])}
}

func quote(line string) string { return fmt.Sprintf("%q", strings.TrimSuffix(line, "\n")) }

// quoteDifference quotes a line, with its newline if that is the only difference.
func quoteDifference(line, other string) string {
	if strings.TrimSuffix(line, "\n") == strings.TrimSuffix(other, "\n") {
		return fmt.Sprintf("%q", line)
	}
	return quote(line)
}
