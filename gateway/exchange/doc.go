// Package exchange sends a message or decisions to a conversation, and tells what the agent answers
// as one text, while it is written: what a front end needs whose clients get one reply to one
// request. It knows no HTTP and no protocol.
//
// exchange.go  Exchanges, which begin an Exchange: Start, Send, Decide, Join
// follow.go    Follow, which tells the reply while it is written, and Wait, which does not
// reply.go     Reply: what came of it
// speech.go    speech: the drafts and the entries of a turn as one text that only grows
//
// The text is what the record has in the end, in its order. A draft is told while it is written, one
// at a time; drafts of nodes that run beside it are told when they are recorded. A draft that is
// replaced by another one, because the model was asked again, was told already: the new text follows
// it.
package exchange
