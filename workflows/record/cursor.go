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

// Hash distinguishes entries, also those with the same position or the same ID: after the death
// of a worker a turn is repeated and may produce other messages.
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

// Cursor is the position of a reader in a conversation. The zero value is the start. Its text
// form is the ID of an event:
//
//	12.8c1f…;a=2;b=1
//
// means entries 1 to 12, and of the later ones the first two of node a and the first of b; the
// hexadecimal number is the XOR of their hashes.
type Cursor struct {
	seq   int
	sum   uint64
	nodes map[string]int
}

// Add records that the reader has received an entry. Entries up to firm are final in their
// order (Firm).
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

// CursorOf returns the cursor of a reader that has received the entries with these hashes, in
// any order.
func CursorOf(entries []Entry, firm int, seen map[uint64]bool) Cursor {
	c := Cursor{nodes: map[string]int{}}
	for _, e := range entries {
		switch {
		case !seen[e.sum]:
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

// Firm returns the Seq of the last entry before which no other entry will be inserted. parallel
// means that nodes of a tree are running in the last turn.
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

// IsZero reports whether the reader has received no entry.
func (c Cursor) IsZero() bool { return c.seq == 0 && c.Whole() }

// Whole reports whether the received entries are exactly the first ones, so that one number
// describes them.
func (c Cursor) Whole() bool { return len(c.nodes) == 0 }

// Len returns how many entries the reader has received.
func (c Cursor) Len() int {
	n := c.seq
	for _, of := range c.nodes {
		n += of
	}
	return n
}

// Seen returns the hashes of the entries that the reader has received. ok is false if those are
// not among the entries.
func (c Cursor) Seen(entries []Entry) (seen map[uint64]bool, ok bool) {
	seen = map[uint64]bool{}
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
		seen[e.sum] = true
		sum ^= e.sum
	}
	return seen, len(left) == 0 && len(entries) >= c.seq && sum == c.sum
}

// String is the text form, which ParseCursor parses.
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

// ParseCursor parses the result of String.
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
