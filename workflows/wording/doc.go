// Package wording holds every sentence that workflows write for people and models: replies,
// results of failed calls, descriptions of approvals, and the pages of the Temporal Web UI. A
// text is a constant or a pure function of data. The rules that decide which text is used are
// in package decide.
//
// Texts are part of recorded histories and golden files, and clients match on some of them. A
// changed text needs a version marker in the workflow that writes it, and the previous text
// moves to earlier.go. Details are the exception: they are not part of histories.
//
// Names and values in a text come from models, tool servers and other agents. Visible and
// related functions write them so that every character is visible and none can be mistaken for
// words of this program.
//
// # Where to look
//
//	texts.go       the constants, and short replies and notes
//	bounds.go      requests and replies that exceed a bound
//	cause.go       causes, as they stand within other texts
//	failure.go     models, tools and calls that failed
//	signal.go      invalid signals and updates
//	request.go     messages that ask for an approval or an answer, and that record one
//	describe.go    Describe, the effect of a call
//	doubt.go       descriptions of calls that have to be approved again
//	login.go       calls that wait for a login
//	pause.go       calls that a switch pauses, and the switches
//	rates.go       calls that a rate limit holds
//	limits.go      a limit that is reached
//	delegation.go  work that another agent does
//	tree.go        composite nodes
//	earlier.go     earlier descriptions, for the replay of older histories
//	edit.go        changes of arguments, and approvals that count for later calls, too
//	judged.go      what rules that have changed say of a call that waits, and releases
//	visible.go     Visible, Shown: values of others within a text
//	card.go        Card, an approval in a list
//	details.go     pages of approvals and conversations in the Web UI
//	console.go     commands to copy
//	verdict.go     what rules refuse and ask
//	title.go       titles that somebody gives a conversation
//	push.go        the page of a task's webhooks
//	summary.go     lines of activities, timers and approvals in the Web UI
package wording

//go:generate go test . -run Golden -update
