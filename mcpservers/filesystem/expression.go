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
	maxInstructions = 10_000  // of a compiled regular expression

	// uncheckedSteps is the number of matching steps between checks of the context. They take
	// less than a second.
	uncheckedSteps = 8 << 20
)

// expression is a regular expression whose matching ends soon after its context is cancelled.
type expression struct {
	compiled *regexp.Regexp
	steps    int // maximum for each byte of text
}

// match reports whether text matches. It returns false if ctx ended first.
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

// cancellableRunes returns EOF early when its context ends.
type cancellableRunes struct {
	*bytes.Reader
	ctx   context.Context
	every int // runes between checks of ctx
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

// instructions estimates the number of instructions of the compiled expression, in which
// repetitions are expanded.
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
