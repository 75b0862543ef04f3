// Package record reads a conversation as numbered entries. Every reader of a conversation,
// such as an event stream, a task or a model, is a projection of them: a pure function that
// knows nothing of the others.
//
// # Entries
//
// An Entry is a message of the transcript with its coordinates: its number, its turn, what
// kind it is, the node that wrote it, and the entry that it answers. The workflow writes down
// what only it knows (Message.ResultOf, ApprovalID, Outcome); legacy.go reconstructs it for
// messages that were written before that.
//
// # Numbers
//
// Seq is the entry's place in the record, from 1. Within a turn of a single node, and in
// every turn that is over, entries only follow each other, so the number never changes. While
// the nodes of a tree run side by side, an entry may still come in front of another: its node
// keeps the order, the tree does not. A number that never changes there would have to be given
// by the conversation, which sees reports of nodes and not their entries (they may be in the blob
// store already): each report, and each result, would have to list what every node inside has
// written, which grows with the tree. So a Cursor counts the entries of a turn that runs node
// by node, and goes back to one number when the turn is over.
//
// # Where to look
//
//	entry.go   Entry, Read
//	legacy.go  what Read has to find out about old messages
//	cursor.go  Cursor, how far a reader has come
//	state.go   State, a conversation with every value in place, as readers get it
package record
