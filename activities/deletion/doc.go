// Package deletion has the activities of deletions (end.go, bury.go, erase.go), and those that keep
// a store small: expire.go deletes old conversations by the same workflow, mark.go finds the stored
// values that are in use (histories.go), and removes the others. They work on the workflows of the
// namespace that they run in (server.go).
//
// A deletion removes no values, because conversations share those that are equal. What is in use
// is found by reading: every text in a history or a file that looks like a value's sum counts as a
// reference. Each holder of references to a store marks its own; see deletion.Marks.
package deletion
