package agui

import (
	"strings"

	"agent-stop-and-go/workflows/record"
)

// Position is what of a conversation a reader has received: the ID of events.
// The zero value is the beginning.
type Position struct {
	record.Cursor
	// open: the reader may hold more than that, of which nothing is certain.
	open bool
}

// IsZero reports whether nothing has been received.
func (p Position) IsZero() bool { return p.Cursor.IsZero() && !p.open }

// String is the position as ParsePosition reads it.
func (p Position) String() string {
	if p.open {
		return p.Cursor.String() + "~"
	}
	return p.Cursor.String()
}

// ParsePosition reads what String returns.
func ParsePosition(s string) (Position, error) {
	s, open := strings.CutSuffix(s, "~")
	c, err := record.ParseCursor(s)
	return Position{c, open}, err
}
