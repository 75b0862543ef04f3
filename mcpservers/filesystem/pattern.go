package filesystem

import (
	"context"
	"fmt"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxGlob         = 1 << 10 // bytes of a glob pattern
	maxAlternatives = 1000    // total expansions of the braces of a glob pattern
)

// globPatterns is a glob pattern expanded to patterns without braces. Their matching time is bounded;
// that of braces is not.
type globPatterns []string

// parseGlob expands the pattern in the argument called name. A malformed pattern matches nothing.
func parseGlob(name, pattern string) (globPatterns, error) {
	if len(pattern) > maxGlob {
		return nil, fmt.Errorf("%s is too long: %d bytes, at most %d are allowed", name, len(pattern), maxGlob)
	}
	all, err := expand(nil, pattern)
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, err)
	}
	return all, nil
}

func (n globPatterns) match(ctx context.Context, name string) bool {
	for _, pattern := range n {
		if ctx.Err() != nil {
			return false
		}
		if ok, err := doublestar.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}

var errAlternatives = fmt.Errorf("has braces that stand for more than %d alternatives: use fewer {…}", maxAlternatives)

// expand appends the expansion of a pattern. It interprets braces like doublestar.
func expand(all globPatterns, pattern string) (globPatterns, error) {
	marks := outerBraces(pattern)
	if marks == nil {
		if len(all) == maxAlternatives {
			return nil, errAlternatives
		}
		return append(all, pattern), nil
	}
	before, after := pattern[:marks[0]], pattern[marks[len(marks)-1]+1:]
	var err error
	for i, mark := range marks[1:] {
		if all, err = expand(all, before+pattern[marks[i]+1:mark]+after); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// outerBraces returns the positions of the opening brace, the commas and the closing brace of
// the first group of a pattern, nil if there is no group.
func outerBraces(pattern string) (marks []int) {
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(pattern, i)
		case '{':
			if depth++; depth == 1 {
				marks = append(marks, i)
			}
		case ',':
			if depth == 1 {
				marks = append(marks, i)
			}
		case '}':
			if depth--; depth == 0 {
				return append(marks, i)
			}
		}
	}
	return nil
}

func classEnd(pattern string, at int) int {
	for at++; at < len(pattern) && pattern[at] != ']'; at++ {
		if pattern[at] == '\\' {
			at++
		}
	}
	return at
}
