// Package wording holds every sentence that workflows write for people and models:
// replies, results of calls that failed, descriptions of approvals, and what the Temporal
// Web UI shows. A text is a constant or a pure function of data. No function here decides
// what happens: the rules are in package decide.
//
// Texts are part of recorded histories, of golden files, and of what clients match on. A
// changed text needs a version marker in the workflow that writes it, and the text before
// it stays in earlier.go. Details are the exception: no history holds them.
//
// Names and values in a text come from models, tool servers and other agents. Visible and
// related functions write them so that every character is visible and none can be mistaken for
// words of this program.
//
// # Where to look
//
//	texts.go       the constants, and short replies and notes
//	bounds.go      requests and replies that are over a bound
//	cause.go       causes, as they stand within other texts
//	failure.go     models, tools and calls that failed
//	signal.go      signals and updates that make no sense
//	request.go     messages that ask for an approval or an answer, and that record one
//	describe.go    Describe, what a call would do
//	doubt.go       descriptions of calls that have to be approved again
//	limits.go      a limit that is reached
//	delegation.go  work that another agent does
//	tree.go        composite nodes
//	earlier.go     descriptions as they were, for the replay of older histories
//	visible.go     Visible, Shown: values of others within a text
//	card.go        Card, what a list shows of an approval
//	details.go     pages of approvals and conversations in the Web UI
//	console.go     commands to copy
//	push.go        the page of a task's webhooks
//	summary.go     lines of activities, timers and approvals in the Web UI
package wording

//go:generate go test . -run Golden -update
