package unified

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Result is a patched text.
type Result struct {
	Text  []byte
	Hunks []Hunk // in the order of the patch
}

// Hunk describes how one hunk was applied.
type Hunk struct {
	Hunk      int  // number in the patch, from 1
	Line      int  // its first line in the old text, from 1
	Offset    int  // lines between the stated and the actual position
	Fuzz      int  // outer context lines that were ignored
	Recounted bool // its header had wrong line counts
}

// Apply returns old with every hunk of patch applied. Errors are ErrNoHunks, ErrSeveralFiles
// and other "parse patch: …" texts, a *MismatchError under "patch failed: …", and the error of
// ctx, which is checked regularly.
func Apply(ctx context.Context, old []byte, patch string) (Result, error) {
	hunks, creates, err := parse(ctx, patch)
	if err != nil {
		return Result{}, fmt.Errorf("parse patch: %w", err)
	}
	adaptLineEnds(hunks, old)
	text, ended := withLineEnd(old, hunks)
	done, placed, err := placeAll(ctx, hunks, creates, text)
	if err != nil {
		return Result{}, fmt.Errorf("patch failed: %w", err)
	}
	patched, err := write(ctx, text, placed)
	if err != nil {
		return Result{}, fmt.Errorf("patch failed: %w", err)
	}
	if !ended {
		patched = bytes.TrimSuffix(patched, []byte("\n"))
	}
	return Result{Text: patched, Hunks: done}, nil
}

// withLineEnd appends a newline to a text without one, unless the patch mentions the missing
// newline. ended is false if the newline must be removed from the result.
func withLineEnd(old []byte, hunks []hunk) (text []byte, ended bool) {
	if len(old) == 0 || bytes.HasSuffix(old, []byte("\n")) {
		return old, true
	}
	for _, h := range hunks {
		for _, line := range h.Lines {
			if line.Old() && line.NoEOL() {
				return old, true
			}
		}
	}
	return append(bytes.Clone(old), '\n'), false
}

// placeAll finds the position of every hunk, from the top of the text down.
func placeAll(ctx context.Context, hunks []hunk, creates bool, text []byte) ([]Hunk, []*gitdiff.TextFragment, error) {
	f := finder{ctx: ctx, lines: splitLines(text)}
	if creates && len(f.lines) > 0 {
		return nil, nil, &MismatchError{1, 1, "an empty file", quote(f.lines[0])}
	}
	slices.SortStableFunc(hunks, func(a, b hunk) int { return cmp.Compare(a.OldPosition, b.OldPosition) })
	done := make([]Hunk, 0, len(hunks))
	placed := make([]*gitdiff.TextFragment, 0, len(hunks))
	for _, h := range hunks {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		p, err := f.place(h)
		if err != nil {
			return nil, nil, err
		}
		offset := p.at - p.head - max(0, int(h.OldPosition)-1)
		if h.OldLines == 0 {
			offset = p.at - int(h.OldPosition)
		}
		done = append(done, Hunk{Hunk: h.number, Line: p.at - p.head + 1, Offset: offset, Fuzz: p.fuzz, Recounted: h.recounted})
		fragment := exactFragment(h, p)
		placed = append(placed, fragment)
		f.next, f.drift = p.at+int(fragment.OldLines), offset
	}
	slices.SortFunc(done, func(a, b Hunk) int { return cmp.Compare(a.Hunk, b.Hunk) })
	return done, placed, nil
}

// exactFragment returns the fragment for the library: with exact context, and with positions that
// never have the special value 0.
func exactFragment(h hunk, p placement) *gitdiff.TextFragment {
	f := *h.TextFragment
	f.Lines = f.Lines[p.head : len(f.Lines)-p.tail]
	f.LeadingContext -= int64(p.head)
	f.TrailingContext -= int64(p.tail)
	f.OldLines -= int64(p.head + p.tail)
	f.NewLines -= int64(p.head + p.tail)
	f.OldPosition, f.NewPosition = int64(p.at)+1, int64(p.at)+1
	return &f
}

func write(ctx context.Context, text []byte, fragments []*gitdiff.TextFragment) ([]byte, error) {
	var patched bytes.Buffer
	applier := gitdiff.NewTextApplier(&patched, bytes.NewReader(text))
	for _, fragment := range fragments {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := applier.ApplyFragment(fragment); err != nil {
			return nil, err
		}
	}
	if err := applier.Close(); err != nil {
		return nil, err
	}
	return patched.Bytes(), nil
}

func splitLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// adaptLineEnds converts the line ends of the patch to those of the text, if each uses only one
// kind.
func adaptLineEnds(hunks []hunk, text []byte) {
	all, crlf := bytes.Count(text, []byte("\n")), bytes.Count(text, []byte("\r\n"))
	patchAll, patchCRLF := 0, 0
	eachLine(hunks, func(line *gitdiff.Line) {
		patchAll += strings.Count(line.Line, "\n")
		patchCRLF += strings.Count(line.Line, "\r\n")
	})
	switch {
	case all == 0 || patchAll == 0:
	case crlf == all && patchCRLF == 0:
		eachLine(hunks, func(line *gitdiff.Line) { line.Line = strings.ReplaceAll(line.Line, "\n", "\r\n") })
	case crlf == 0 && patchCRLF == patchAll:
		eachLine(hunks, func(line *gitdiff.Line) { line.Line = strings.ReplaceAll(line.Line, "\r\n", "\n") })
	}
}

func eachLine(hunks []hunk, do func(*gitdiff.Line)) {
	for _, h := range hunks {
		for i := range h.Lines {
			do(&h.Lines[i])
		}
	}
}
