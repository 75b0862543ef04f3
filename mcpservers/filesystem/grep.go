package filesystem

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	defaultResults = 100
	maxContext     = 1000 // lines before, and as many after, a match
)

type grepResult struct {
	Matches      []match `json:"matches"`
	TimedOut     bool    `json:"timed_out"`
	TotalMatches int     `json:"total_matches"` // length of matches
	Truncated    bool    `json:"truncated"`
	Unreadable   int     `json:"unreadable,omitempty"` // files and folders that could not be searched
}

type match struct {
	ContextAfter  []string `json:"context_after,omitempty"`
	ContextBefore []string `json:"context_before,omitempty"`
	File          string   `json:"file"`
	LineContent   string   `json:"line_content"`
	LineNumber    int      `json:"line_number"`

	size int64 // of its text in bytes
}

// bounds are the limits that grep and glob share.
type bounds struct {
	results int
	time    time.Duration
	depth   int // -1: unlimited
}

func (c call) bounds() (b bounds, err error) {
	if b.results, err = c.clampedCount("max_results", defaultResults, c.config.MaxResults); err != nil {
		return b, err
	}
	seconds, err := c.clampedCount("timeout_seconds", c.config.MaxTimeoutSeconds, c.config.MaxTimeoutSeconds)
	if err != nil {
		return b, err
	}
	b.time, b.depth = time.Duration(seconds)*time.Second, -1
	if c.args.Has("max_depth") {
		b.depth, err = c.clampedCount("max_depth", 0, 1<<20)
	}
	return b, err
}

// isTimeout distinguishes the search's own timeout, which is not an error, from the
// cancellation of the call, which is.
func isTimeout(call context.Context, err error) (timedOut bool, _ error) {
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(call.Err(), context.Canceled) {
		return true, nil
	}
	return false, err
}

// errLimitReached ends a search at a limit of its results.
var errLimitReached = errors.New("enough found")

func grep(ctx context.Context, c call) (any, error) {
	at, err := c.resolvedLocation("root", "path", ".")
	if err != nil {
		return nil, err
	}
	bounds, err := c.bounds()
	if err != nil {
		return nil, err
	}
	query, err := c.query()
	if err != nil {
		return nil, err
	}
	filter, err := c.filter()
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, bounds.time)
	defer cancel()
	s := newSearch(within, at, query, limits{matches: bounds.results, room: c.config.MaxReadSize})
	s.filter = filter
	err = s.run(bounds.depth)
	s.result.Truncated = errors.Is(err, errLimitReached)
	if s.result.TimedOut, err = isTimeout(ctx, err); err != nil && !s.result.Truncated {
		return nil, describe(err, "path not found", at.given)
	}
	s.result.TotalMatches = len(s.result.Matches)
	return s.result, nil
}

// filter returns nil when every file is to be searched.
func (c call) filter() (func(context.Context, string) bool, error) {
	pattern, err := c.args.Text("glob_filter", "")
	if err != nil || pattern == "" {
		return nil, err
	}
	wanted, err := parseGlob("glob_filter", pattern)
	return wanted.match, err
}

func (c call) query() (q query, err error) {
	pattern, err := c.args.Required("pattern")
	if err != nil {
		return q, err
	}
	insensitive, err := c.args.Boolean("case_insensitive")
	if err != nil {
		return q, err
	}
	if insensitive {
		pattern = "(?i)" + pattern
	}
	compiled, err := compile(pattern)
	if err != nil {
		return q, fmt.Errorf("invalid pattern: %w", err)
	}
	q = query{pattern: compiled, needed: findNeedle(pattern), lineSize: c.config.MaxLineSize}
	q.context, err = c.clampedCount("context_lines", 0, maxContext)
	return q, err
}
