// Package console writes the flags of Temporal's CLI in commands that are shown to operators, so
// that a command can be copied from the Web UI or from an error into a shell.
package console
