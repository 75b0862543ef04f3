// Package workflows is the Temporal plumbing of a conversation. The rules are
// in package decide, the types and names in package contract; what is here
// waits, starts, remembers and hands over.
//
//	workflow      started by                    ends when
//	Conversation  the gateway, or by hand       it is closed
//	Approval      a turn, as a child            it is decided, expires or is cancelled
//	Catalogue     the gateway                   a worker has listed its tools
//
//	Conversation: signals message, cancel, close; queries conversation, pending;
//	              update await_settled (waits, changes nothing)
//	Approval:     signal decide; query approval
//
// # How a conversation runs
//
// One loop owns every signal channel (conversation.go). It starts a turn for
// the oldest queued message, and goes on receiving while the turn runs in a
// coroutine of its own (turn.go): further messages queue up, cancel stops the
// turn, close ends the conversation. A turn asks the model, runs the calls or
// asks a human first, and asks the model again, until there is a text. Whenever
// it pauses or ends the conversation is exported to its file, and only then are
// the requests behind it settled, which releases their await_settled. An export
// that fails is owed: it is tried again between turns, while an approval waits,
// and before a closed conversation completes, as long as the history has room.
//
// # Determinism
//
// No clock, no randomness, no map iteration that reaches a command; workflowcheck
// guards it and testdata/histories is replayed in every build. Anything that
// changes the order or number of commands needs workflow.GetVersion while
// conversations of the old shape may be waiting — and they may wait for months.
//
// # Continue-as-new
//
// Only between turns: no turn, no queued message, no approval, all handlers
// finished, all channels empty, the workflow not cancelled. What survives is
// contract.Carried, besides memo and search attributes. The static summary given
// at the start does not: the server keeps it with the first run only.
package workflows
