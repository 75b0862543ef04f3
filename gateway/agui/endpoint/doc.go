// Package endpoint serves AG-UI over HTTP, and conversations as AG-UI events. Package agui
// makes the events; package live follows the conversations.
//
//	endpoint.go      Endpoint, and Follow: a conversation as one stream of events
//	run.go           Run: POST /ag-ui; send.go what it starts, sends and decides
//	input.go         the body of a run; tools.go and resume.go parts of it
//	thread.go        the conversation of a thread, as a run finds it
//	post.go          replies of REST as the events of a turn
//	follow.go        follower, which writes what a reader gets
//	turn.go          which part of a conversation is the turn of a request
//	shared.go        streams that are written once for several readers
//	writer.go        events as they are written
//	capabilities.go  what clients may expect of the agent
//
// Whoever follows a conversation is a reader of its follower. Without a feed a stream has
// everything that lasts, only later and not letter by letter. Readers that got the same,
// up to the same place, share one stream: their events are made and written out once for all
// of them.
//
// A POST that is answered with a stream first does what it does anyway, and then shows the
// part of the conversation that is its turn. What is refused before the turn has begun is an
// ordinary error.
//
// An AG-UI thread is a conversation: the one whose ID it has for a name, or one with an ID
// derived from the name. What a run brings is compared with what the conversation has. New
// messages are sent, results of the client's tools and answers to interrupts are decisions,
// and all of it is checked before any is carried out. The names of messages and what decisions
// say make their request IDs, so a run that is posted again changes nothing.
//
// A Stream writes AG-UI 1.0. For a client that is older, which is one that names no version,
// an agui.Legacy rewrites what is about to be written. Its reader shares its stream with
// nobody. The state of a run is the front end's: it goes into the Stream as it came, and the
// agent's own is a member beside it.
package endpoint
