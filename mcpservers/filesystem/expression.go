package filesystem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
)

const (
	maxExpression   = 4 << 10 // bytes of a regular expression
	maxInstructions = 10_000  // that a regular expression is compiled into

	// uncheckedSteps is how much matching is done between looks at the context:
	// less than a second of it.
	uncheckedSteps = 8 << 20
)

// expression is a regular expression whose matching ends soon after its context.
type expression struct {
	compiled *regexp.Regexp
	steps    int // at most, for each byte of text
}

// match returns false for what it did not finish.
func (e *expression) match(ctx context.Context, text []byte) bool {
	if ctx.Err() != nil {
		return false
	}
	if e.steps*len(text) <= uncheckedSteps {
		return e.compiled.Match(text)
	}
	runes := &cancellableRunes{Reader: bytes.NewReader(text), ctx: ctx, every: uncheckedSteps / e.steps}
	return e.compiled.MatchReader(runes) && ctx.Err() == nil
}

// cancellableRunes ends a text early when its context ends.
type cancellableRunes struct {
	*bytes.Reader
	ctx   context.Context
	every int // runes between looks at ctx
	read  int
}

func (r *cancellableRunes) ReadRune() (rune, int, error) {
	if r.read++; r.read%r.every == 0 && r.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	return r.Reader.ReadRune()
}

// compile refuses expressions that take long to match even on a short line.
func compile(text string) (*expression, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("%d bytes are too long, at most %d are allowed", len(text), maxExpression)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	n := instructions(parsed)
	if n > maxInstructions {
		return nil, errors.New("too complex: use smaller repetitions")
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return &expression{compiled, n + 1}, nil
}

// instructions is about how many the compiled expression has: repetitions are
// written out there.
func instructions(re *syntax.Regexp) (n int) {
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	switch re.Op {
	case syntax.OpRepeat:
		return (n + 1) * max(re.Min, re.Max)
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCapture, syntax.OpAlternate:
		return n + max(2, len(re.Sub))
	case syntax.OpConcat:
		return n
	}
	return n + 1
}
