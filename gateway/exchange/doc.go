// Package exchange sends a message or decisions to a conversation, and returns or streams what the agent
// answers as one text: what a front end needs whose clients get one reply to one
// request. It knows no HTTP and no protocol.
//
// exchange.go  Exchanges, which begin an Exchange: Start, Send, Decide, Join
// follow.go    Follow, which streams the reply, and Wait, which does not
// reply.go     Reply: what came of it
// speech.go    Speech: the drafts and the entries of a turn as one text that only grows
// part.go      Part: how much of a draft was told, with which another Speech goes on
//
// The text is what the record has in the end, in its order. Drafts are streamed one at a
// time; drafts of nodes that run beside one are sent when they are recorded. A draft that is replaced
// by another one, because the model was asked again, has been sent: the new text follows it.
package exchange
