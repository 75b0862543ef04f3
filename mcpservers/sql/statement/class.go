package statement

import "slices"

// Class is what a statement does at most. The zero value is no class.
type Class string

// Classes, from harmless to refused. Of the parts of a statement the last one prevails.
const (
	Read   Class = "read"   // reads tables, with functions that are known to change nothing
	Write  Class = "write"  // changes or locks rows
	Schema Class = "schema" // changes tables, rights or other objects
	// Unsafe calls a function or procedure, or uses a file or program, whose effects are not
	// known, or reach out of the tables.
	Unsafe Class = "unsafe_function"
	// Unknown is not understood by the parser, or has a part that it does not know.
	Unknown Class = "unknown"
	// Session changes the transaction or the connection. It is never run, because it has no
	// effect on a call of its own and could undo the limits of this one.
	Session Class = "session"
)

var order = []Class{"", Read, Write, Schema, Unsafe, Unknown, Session}

// Max returns the class that prevails.
func (c Class) Max(other Class) Class {
	if slices.Index(order, other) > slices.Index(order, c) {
		return other
	}
	return c
}
