// Package task shows a conversation as an A2A task: the whole task, or a stream of its events
// for one reader. It also reads which waiting approvals a message decides. It is pure:
// conversations and messages go in; tasks, events and decisions come out, in the types of A2A
// 1.0. Package protocol encodes them for every version of the protocol.
//
// # Where to look
//
//	source.go    Source, the input; Task, the whole task
//	ask.go       the status message of a waiting task, for people and for programs
//	answers.go   the decisions in a message; hitl.go reads them from kagent's extension,
//	             adk.go from clients of Google's Agent Development Kit
//	stream.go    Stream
//
// # Streams
//
// A stream sends only recorded entries. Drafts of replies are not sent, because A2A has no way
// to take back part of a message. The events of a message are the same for every reader,
// whenever it connects, with one exception: the request for an approval or a login is sent as a
// task state while it waits, and as an ordinary message afterwards. A state that no message
// shows is sent only to readers that are connected. The last message of a turn is sent as the
// artifact, so a message that may be the last is held back until another follows or the turn
// ends.
//
// The ID of an event is a record.Cursor and a number for what was sent besides entries. A
// reader that returns with it continues after that event. Entries are sent in the order of
// time. If the cursor does not fit the record, the reader starts with the whole task.
package task
