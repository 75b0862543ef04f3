// Package endpoint serves AG-UI over HTTP, and conversations as AG-UI events. Package agui makes
// the events; package live follows the conversations.
//
// endpoint.go      Endpoint, and Follow: a conversation as one stream of events
// run.go           Run: POST /ag-ui; send.go what a run starts, sends and decides
// input.go         the body of a run; tools.go and resume.go parts of it, edited.go changes of arguments
// thread.go        the conversation of a thread when a run arrives
// post.go          REST requests that are answered with a stream of events
// follow.go        follower, which writes the events of one reader
// shared.go        streams that are encoded once for several readers
// writer.go        encoding and writing events
// capabilities.go  what clients may expect of the agent
//
// Everyone who follows a conversation is a reader of the same live follower. Without a feed a
// stream still has every recorded entry, but later, and no drafts. Readers that have received
// the same share one stream: their events are made and encoded once for all of them.
//
// A POST that is answered with a stream is carried out as usual; then the part of the
// conversation that is its turn is streamed. A refusal before the turn has begun is an ordinary
// error.
//
// An AG-UI thread is a conversation. If the thread's ID is a UUID, it is the conversation's ID;
// otherwise the conversation's ID is derived from it. The body of a run is compared with the
// conversation: new messages are sent, and results of the client's tools and answers to
// interrupts become decisions. Everything is checked before anything is carried out. Request IDs
// are derived from message IDs and the content of decisions, so a run that is posted again
// changes nothing.
//
// A Stream writes AG-UI 1.0. A run without a protocol version comes from an older client, for
// which an agui.Legacy rewrites the events; its reader shares its stream with none. The state in
// a run belongs to the front end: the stream returns it unchanged, with the agent's own state as
// a member.
package endpoint
