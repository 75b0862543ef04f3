package filesystem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

type globResult struct {
	Matches      []globMatch `json:"matches"`
	TimedOut     bool        `json:"timed_out"`
	TotalMatches int         `json:"total_matches"` // length of matches
	Truncated    bool        `json:"truncated"`
	Unreadable   int         `json:"unreadable,omitempty"` // folders that could not be searched
}

type globMatch struct {
	ModifiedAt string `json:"modified_at"`
	Path       string `json:"path"`
	Size       int64  `json:"size"`
	Type       string `json:"type"`
}

func glob(ctx context.Context, c call) (any, error) {
	at, err := c.resolvedLocation("root", "path", ".")
	if err != nil {
		return nil, err
	}
	matches, err := c.matcher()
	if err != nil {
		return nil, err
	}
	kind, err := c.args.Text("type_filter", "all")
	if err != nil {
		return nil, err
	}
	bounds, err := c.bounds()
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, bounds.time)
	defer cancel()
	dir, err := at.openFolder()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	result := globResult{Matches: []globMatch{}}
	result.Unreadable, err = walk(within, dir, bounds.depth, func(rel string, entry fs.DirEntry) error {
		if matches(within, rel) && (kind == "all" || kind == typeOf(entry.Type())) {
			result.add(dir, rel)
		}
		if len(result.Matches) >= bounds.results {
			return errLimitReached
		}
		return nil
	})
	result.Truncated = errors.Is(err, errLimitReached)
	if result.TimedOut, err = isTimeout(ctx, err); err != nil && !result.Truncated {
		return nil, describe(err, "path not found", at.given)
	}
	slices.SortFunc(result.Matches, func(a, b globMatch) int { return strings.Compare(a.Path, b.Path) })
	result.TotalMatches = len(result.Matches)
	return result, nil
}

// matcher returns a match function for the argument pattern or regex. It takes a path relative
// to the search.
func (c call) matcher() (func(ctx context.Context, rel string) bool, error) {
	pattern, err := c.args.Text("pattern", "")
	if err != nil {
		return nil, err
	}
	expression, err := c.args.Text("regex", "")
	if err != nil {
		return nil, err
	}
	if (pattern == "") == (expression == "") {
		return nil, errors.New("exactly one of pattern or regex must be provided")
	}
	if expression != "" {
		compiled, err := compile(expression)
		if err != nil {
			return nil, fmt.Errorf("invalid regex: %w", err)
		}
		return func(ctx context.Context, rel string) bool { return compiled.match(ctx, []byte(rel)) }, nil
	}
	wanted, err := parseGlob("pattern", pattern)
	byPath := strings.Contains(pattern, "**")
	return func(ctx context.Context, rel string) bool {
		if !byPath {
			rel = rel[strings.LastIndexByte(rel, '/')+1:]
		}
		return wanted.match(ctx, rel)
	}, err
}

func (r *globResult) add(dir *os.Root, rel string) {
	info, err := dir.Lstat(rel)
	if err != nil {
		return // it no longer exists
	}
	r.Matches = append(r.Matches, globMatch{ModifiedAt: formatTime(info), Path: rel, Size: info.Size(), Type: typeOf(info.Mode())})
}
