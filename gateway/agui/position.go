package agui

import (
	"strings"

	"agent-stop-and-go/workflows/record"
)

// Position is how much of a conversation a reader has received. Its string is the ID of
// events. The zero value is the beginning.
type Position struct {
	record.Cursor
	// open: the reader may also hold parts that are not recorded.
	open bool
}

// IsZero reports whether nothing was received.
func (p Position) IsZero() bool { return p.Cursor.IsZero() && !p.open }

// String returns the form that ParsePosition reads.
func (p Position) String() string {
	if p.open {
		return p.Cursor.String() + "~"
	}
	return p.Cursor.String()
}

// ParsePosition parses the result of String.
func ParsePosition(s string) (Position, error) {
	s, open := strings.CutSuffix(s, "~")
	c, err := record.ParseCursor(s)
	return Position{c, open}, err
}
