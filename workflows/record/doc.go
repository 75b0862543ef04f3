// Package record reads a conversation as numbered entries. Every reader of a conversation,
// such as an event stream, a task or a model, is a projection of them: a pure function that
// knows nothing of the others.
//
// # Entries
//
// An Entry is a message of the transcript with its coordinates: number, turn, kind, the node
// that wrote it, and the entry that it answers. The workflow records what only it knows
// (Message.ResultOf, ApprovalID, Outcome); legacy.go reconstructs it for older messages.
//
// # Numbers
//
// Seq is the entry's place in the record, from 1. In a turn of a single node, and in every ended
// turn, entries are only appended, so the number never changes. While the nodes of a tree run in
// parallel, an entry may still be inserted before another one: the order is fixed for each node,
// not for the tree. Numbers that never change would have to be given by the conversation, which
// receives reports of nodes and not their entries (those may be in the blob store): each report
// and each result would have to list the entries of all nodes inside, which grows with the tree.
// So a Cursor counts the entries of a running turn by node, and is a single number once the turn
// has ended.
//
// # Where to look
//
//	entry.go   Entry, Read
//	legacy.go  what Read reconstructs for old messages
//	cursor.go  Cursor, the position of a reader
//	state.go   State, a conversation with all values loaded
package record
