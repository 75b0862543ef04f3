// Package agentapi serves the API of MCP Agent for its own clients: the API of its AgentClient
// (plugin_client_api), and that of its shell (plugin_client_shellpy), each on a port of its own.
//
//	endpoint.go  Endpoint; the routes of both ports
//	session.go   which conversation a client_id means
//	submit.go    messages and commands; wait.go the answer as one reply
//	stream.go    streams, which stay open; notice.go what commands have answered
//	settle.go    the ends of turns that answers of commands are
//	resume.go    streams that go on where a client has lost its connection; position.go where that is
//	teller.go    Teller: a conversation as tokens, gates and ends of turns; trace.go traces of calls
//	progress.go  what a Teller has told, and how it goes on
//	api.go       the form of the API; shell.go that of the shell
//	gate.go      gates: approvals that clients know and answer
//	sessions.go  lists, deletions and /health; errors.go
//
// # Sessions
//
// A session is a conversation. The ID of the conversation is derived from the caller and from the
// client_id, so that each gateway finds it, and nobody that of somebody else. When it has been deleted or
// closed, the next message to the client_id begins the next one. A conversation that has begun elsewhere
// has its UUID as client_id. Digits alone are a shorthand_id, and what begins with # is a short ID.
//
// # Streams
//
// A stream follows its session, also before its first message and after its end, and never closes by
// itself. Like every reader it is a projection of the record, so several may read the same session.
// That of the API begins with the turn of the last message that was sent, also if it has ended: clients send
// a message and then open a stream. That of the shell, which clients keep open, begins with the turn that
// runs, or that has ended a moment ago.
//
// The ID of an event is a position of the record (position.go), with which a stream of any gateway goes on.
// A client whose position is not one of the conversation gets the event reset, and the turn anew.
//
// A turn ends with done or with error, never with both. A message that is sent while a turn runs waits for
// its end. While a gate waits no message is taken (409); it waits until somebody decides, however long
// that takes.
package agentapi
