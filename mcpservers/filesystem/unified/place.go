package unified

import (
	"context"
	"fmt"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// maxFuzz is how many lines of outer context may differ, as in patch(1).
const maxFuzz = 2

// MismatchError says where a text differs from what a hunk expects. Expected
// and Got are descriptions: quoted lines, or words such as "end of file".
type MismatchError struct {
	Hunk, Line    int
	Expected, Got string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("hunk %d does not match at line %d (expected %s, got %s)", e.Hunk, e.Line, e.Expected, e.Got)
}

// placement is where a hunk goes: its first kept line is line at (from 0), and
// head and tail lines of context are left out.
type placement struct{ at, head, tail, fuzz int }

// finder places hunks in order; next is the first line that no hunk before has
// used, drift how far the one before was from where it said.
type finder struct {
	ctx         context.Context
	lines       []string
	next, drift int
	compared    int // lines since the last look at ctx
}

// place finds the nearest fitting place with the least fuzz. The error is a
// *MismatchError for the place that the hunk names, or that of the context.
func (f *finder) place(h hunk) (placement, error) {
	wanted := int(h.OldPosition) - 1
	if h.OldLines == 0 {
		wanted++ // without old lines the position is that of the line before
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

// trim leaves out context for a level of fuzz, as patch(1) does: from the longer
// side first. It refuses to leave nothing to hold on to.
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

// search looks at the wanted line, then at one after, one before, two after…
// and returns -1 when the hunk fits nowhere. A hunk that only adds lines and
// shows no context fits nowhere but at its own place.
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

// check looks at the context after so many lines that it costs nothing.
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
	// A line without line end can only become the last one.
	return at+len(old) == len(f.lines) || !endsFile(h.Lines[p.head:len(h.Lines)-p.tail])
}

// endsFile reports whether a last line without line end is written.
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

// mismatch describes the first difference at the place the hunk names.
func (f *finder) mismatch(h hunk, at int) error {
	old := oldLines(h.Lines)
	for i, line := range old {
		if at+i >= len(f.lines) {
			return &MismatchError{h.number, at + i + 1, quote(line), "end of file"}
		}
		if got := f.lines[at+i]; got != line {
			return &MismatchError{h.number, at + i + 1, quoteUnlike(line, got), quoteUnlike(got, line)}
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

// quoteUnlike shows the line end too where it is the only difference.
func quoteUnlike(line, other string) string {
	if strings.TrimSuffix(line, "\n") == strings.TrimSuffix(other, "\n") {
		return fmt.Sprintf("%q", line)
	}
	return quote(line)
}
