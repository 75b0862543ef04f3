// Package decide holds the rules of a conversation as pure functions: what to do
// with a model's reply, what a failure means, which requests are recorded, when a run's
// history is long enough. Sentences for people and models are in package wording.
//
// Nothing here blocks, reads a clock or knows Temporal, so every rule is tested
// with plain tables. Package workflows calls these functions; a recorded history replays only
// while they return the same, so a changed rule needs a version marker in its caller.
//
// # Where to look
//
//	plan.go        Next, what a turn does with a model's reply
//	failure.go     the consequence of a failed call: another model, a person, or a result
//	limits.go      reached limits, and what their approval grants
//	ledger.go      Ledger, the requests that are known and their answers
//	merge.go       Merge, the result of a composite node; how often a node reports
//	delegation.go  whether a task of another agent still asks the same; how often it is polled
//	push.go        the queue of a webhook
//	rollover.go    when a run continues as new
//	close.go       whether a signal closes a conversation
//	view.go        a tree as the API shows it
package decide
