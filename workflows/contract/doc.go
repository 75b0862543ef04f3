// Package contract is everything that crosses a process boundary: the payloads
// of workflows, signals, queries, updates and activities, the names they are
// registered under, the identifiers of workflows, and the kinds of failure.
//
// It imports the standard library only, so every other package may import it.
// Registered names are literals in names.go: renaming a Go identifier never
// renames the wire, and a recorded history stays replayable.
//
// # Values outside history
//
// Temporal keeps every payload in a workflow's history, and reads it again on
// every replay. Text and JSON therefore carry either the value itself (up to
// InlineLimit bytes) or a Blob, the address of the value in a content-addressed
// store. Package transcript puts values there and resolves them again; a
// conversation's older messages live there too, so a run's history stays small
// however long the conversation gets.
//
// # Changing a type
//
// testdata holds the JSON of one value of each type. A change that breaks one
// of these files breaks conversations that are waiting right now: add optional
// fields, never rename or remove. `make golden` rewrites the files.
package contract

//go:generate go test . -run TestWireFormat -update
