// Package task shows a conversation as a task of A2A: as a whole, as a stream of
// events to one reader, and what a message says of the approvals that wait. It is pure:
// conversations and messages go in; tasks, events and decisions, in the types of A2A
// 1.0, come out. Package protocol writes them in every version of the protocol.
//
// # Where to look
//
//	source.go    Source, what goes in; Task, the whole of it
//	ask.go       the status message of a task that waits, for people and for programs
//	answers.go   what a message decides; hitl.go the same by kagent's extension,
//	             adk.go for clients of Google's Agent Development Kit
//	stream.go    Stream
//
// # Streams
//
// A stream sends what lasts. What a model says while it says it is not sent, because A2A
// has no way to take a piece back. The events of a message are always the same, whenever
// a reader comes; only the request for an approval, or for a login, is sent as the state
// that it is while it waits and as a message of the work afterwards. A state that no
// message shows is sent to those who are there. The last message of a turn is sent as
// the artifact, so a message that may be the last is held until there is another, or the
// turn has ended.
//
// An event's ID is a record.Cursor, and what has been sent besides entries. A reader who comes
// back with it goes on behind it. Entries are sent in the order of time; where the record is
// not the one of which the cursor is, the reader begins with the whole task.
package task
