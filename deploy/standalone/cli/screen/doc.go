// Package screen is what people see at a terminal: text from outside without what controls a
// terminal, and approvals.
//
// safe.go      text that a model, a tool or another agent wrote
// approval.go  an approval, what it asks, and how to answer it
package screen
