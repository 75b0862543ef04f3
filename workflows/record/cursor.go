package record

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Hash tells entries apart, also those that have the same place or the same ID: what was told of
// a turn that a dead worker has to repeat may come to something else.
func (e Entry) Hash() uint64 { return e.sum }

func hashOf(e Entry) uint64 {
	digest := sha256.Sum256([]byte(e.ID + "\x00" + e.content()))
	return binary.BigEndian.Uint64(digest[:])
}

func (e Entry) content() string {
	switch e.Kind {
	case KindCall:
		return string(e.ToolCall.Arguments.Raw)
	case KindResult:
		return e.ToolCall.Result.Inline
	}
	return e.Text
}

// Cursor is what of a conversation a reader has been told. The zero value is nothing. Its text
// form is the ID of an event:
//
//	12.8c1f…;a=2;b=1
//
// are the entries 1 to 12, and of those behind them the first two of node a and the first of b;
// the hexadecimal number is the XOR of their sums.
type Cursor struct {
	seq   int
	sum   uint64
	nodes map[string]int
}

// Add takes note that an entry has been told. Those up to firm only follow each other (Firm).
func (c *Cursor) Add(e Entry, firm int) {
	if e.Seq <= firm && e.Seq == c.seq+1 {
		c.seq++
	} else {
		nodes := maps.Clone(c.nodes)
		if nodes == nil {
			nodes = map[string]int{}
		}
		nodes[e.Node]++
		c.nodes = nodes
	}
	c.sum ^= e.sum
}

// CursorOf is the cursor of a reader that has been told some entries, by their sums, in any order.
func CursorOf(entries []Entry, firm int, told map[uint64]bool) Cursor {
	c := Cursor{nodes: map[string]int{}}
	for _, e := range entries {
		switch {
		case !told[e.sum]:
			continue
		case e.Seq <= firm && e.Seq == c.seq+1:
			c.seq++
		default:
			c.nodes[e.Node]++
		}
		c.sum ^= e.sum
	}
	return c
}

// Firm is the Seq of the last entry that no other will come in front of. parallel tells that
// nodes of a tree are at work on the last turn.
func Firm(entries []Entry, parallel bool) int {
	if !parallel || len(entries) == 0 {
		return len(entries)
	}
	last := entries[len(entries)-1].Turn
	began := slices.IndexFunc(entries, func(e Entry) bool { return e.Turn == last })
	if entries[began].Kind == KindMessage {
		began++
	}
	return began
}

// IsZero reports whether nothing has been told.
func (c Cursor) IsZero() bool { return c.seq == 0 && c.Whole() }

// Whole reports whether the cursor is one number: what was told are the first entries.
func (c Cursor) Whole() bool { return len(c.nodes) == 0 }

// Seen returns the sums of the entries that had been told at the cursor. ok is false where
// these are not the entries that were there then.
func (c Cursor) Seen(entries []Entry) (told map[uint64]bool, ok bool) {
	told = map[uint64]bool{}
	left, sum := maps.Clone(c.nodes), uint64(0)
	for _, e := range entries {
		if e.Seq > c.seq {
			if left[e.Node] == 0 {
				continue
			}
			if left[e.Node]--; left[e.Node] == 0 {
				delete(left, e.Node)
			}
		}
		told[e.sum] = true
		sum ^= e.sum
	}
	return told, len(left) == 0 && len(entries) >= c.seq && sum == c.sum
}

// String is the cursor as ParseCursor reads it.
func (c Cursor) String() string {
	if c.IsZero() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d.%x", c.seq, c.sum)
	for _, node := range slices.Sorted(maps.Keys(c.nodes)) {
		fmt.Fprintf(&b, ";%s=%d", url.QueryEscape(node), c.nodes[node])
	}
	return b.String()
}

var errCursor = errors.New("this is no position in a conversation")

// ParseCursor reads what String returns.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	parts := strings.Split(s, ";")
	seq, sum, _ := strings.Cut(parts[0], ".")
	var c Cursor
	var err, err2 error
	c.seq, err = strconv.Atoi(seq)
	c.sum, err2 = strconv.ParseUint(sum, 16, 64)
	if err != nil || err2 != nil || c.seq < 0 {
		return Cursor{}, errCursor
	}
	for _, part := range parts[1:] {
		if err := c.parseNode(part); err != nil {
			return Cursor{}, err
		}
	}
	return c, nil
}

func (c *Cursor) parseNode(part string) error {
	name, count, _ := strings.Cut(part, "=")
	node, err := url.QueryUnescape(name)
	n, err2 := strconv.Atoi(count)
	if err != nil || err2 != nil || n < 1 {
		return errCursor
	}
	if c.nodes == nil {
		c.nodes = map[string]int{}
	}
	c.nodes[node] = n
	return nil
}
