// Package decide holds the rules of a conversation as pure functions: what to do
// with a model's reply, what a failure means, what an operator reads, which
// requests are known, when a run's history is long enough.
//
// Nothing here blocks, reads a clock or knows Temporal, so every rule is tested
// with plain tables. Package workflows asks these functions and does what they
// say; a recorded history replays only while they keep answering the same, so a
// changed rule needs a version marker in the workflow that asks it.
package decide

//go:generate go test . -run Golden -update
