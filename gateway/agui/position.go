package agui

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Position is what of a conversation a reader has been told: the ID of events.
// The zero value is the beginning.
type Position struct {
	count int
	sum   uint64 // of the items, in any order
	// nodes counts what was told of each node of a tree. Messages of one node keep
	// their order, those of nodes side by side do not.
	nodes map[string]int
	// open: the reader may hold more than that, of which nothing is certain.
	open bool
}

// IsZero reports whether nothing has been told.
func (p Position) IsZero() bool { return p.count == 0 && !p.open }

// String is the position as ParsePosition reads it.
func (p Position) String() string {
	if p.IsZero() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d.%x", p.count, p.sum)
	for _, node := range slices.Sorted(maps.Keys(p.nodes)) {
		fmt.Fprintf(&b, ";%s=%d", url.QueryEscape(node), p.nodes[node])
	}
	if p.open {
		b.WriteByte('~')
	}
	return b.String()
}

var errPosition = errors.New("this is no position in a conversation")

// ParsePosition reads what String returns.
func ParsePosition(s string) (Position, error) {
	if s == "" {
		return Position{}, nil
	}
	s, open := strings.CutSuffix(s, "~")
	parts := strings.Split(s, ";")
	count, sum, _ := strings.Cut(parts[0], ".")
	p := Position{open: open}
	var err, err2 error
	p.count, err = strconv.Atoi(count)
	p.sum, err2 = strconv.ParseUint(sum, 16, 64)
	if err != nil || err2 != nil || p.count < 0 {
		return Position{}, errPosition
	}
	for _, part := range parts[1:] {
		if err := p.parseNode(part); err != nil {
			return Position{}, err
		}
	}
	return p, nil
}

func (p *Position) parseNode(part string) error {
	name, count, _ := strings.Cut(part, "=")
	node, err := url.QueryUnescape(name)
	n, err2 := strconv.Atoi(count)
	if err != nil || err2 != nil || n < 1 {
		return errPosition
	}
	if p.nodes == nil {
		p.nodes = map[string]int{}
	}
	p.nodes[node] = n
	return nil
}

// add counts an item as told.
func (p *Position) add(i item) {
	p.count++
	p.sum ^= i.sum
	if p.nodes != nil {
		p.nodes[i.node]++
	}
}

// covers returns the items, by their sums, that had been told at the position, and
// whether the position is one of these items.
func (p Position) covers(items []item) (map[uint64]bool, bool) {
	told, now, left := map[uint64]bool{}, Position{}, maps.Clone(p.nodes)
	for _, i := range items {
		if p.nodes == nil && now.count == p.count {
			break
		}
		if p.nodes != nil {
			if left[i.node] == 0 {
				continue
			}
			left[i.node]--
		}
		now.add(i)
		told[i.sum] = true
	}
	return told, now.count == p.count && now.sum == p.sum
}
