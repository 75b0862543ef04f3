// Package protocol speaks the A2A (Agent2Agent) protocol with clients. It reads
// HTTP and JSON-RPC in three dialects, all on one POST /a2a, and calls a Handler
// with the types of the A2A SDK, whose 1.0 is the only form anybody behind this
// package gets to see.
//
//	1.0   methods such as SendMessage; ProtoJSON, in camelCase or snake_case
//	0.3   methods such as message/send; "kind" in everything
//	old   0.3's methods, with parts that say "type" and a taskId beside the
//	      message: what this project's predecessor spoke
//
// # How to use it
//
//	server := protocol.New(handler, protocol.Options{Logger: log, Closing: ctx})
//	e.POST("/a2a", echo.WrapHandler(http.HandlerFunc(server.RPC)))
//	e.POST("/a2a/", …)                       // clients that add a slash
//	e.GET("/a2a", echo.WrapHandler(http.HandlerFunc(server.Card)))
//	e.GET("/.well-known/agent-card.json", …) // and /.well-known/agent.json, and HEAD
//
// The size of a body is limited outside, with http.MaxBytesReader. A stream lasts
// as long as its request's context, so nothing may put a deadline on that.
//
// # Where to look
//
//	handler.go      Handler, which the gateway implements, and what it may know
//	methods.go      every method of both versions on one screen
//	server.go       the life of a request and of a stream; fail is the only place that writes
//	                errors
//	envelope.go     JSON-RPC itself, media types and versions; extensions.go extensions;
//	                duplicates.go members that are there twice
//	shape.go        how params are checked; params_*.go say what they must be
//	results*.go     what is written for what the Handler returns; notification.go what web
//	                hooks get
//	old.go          all of the old dialect
//	errors.go       the one table from an error to its code
//	card.go         the agent's card; card_http.go serves it
//
// # Which dialect
//
// The method decides between 1.0 and 0.3, whatever version a header claims; only
// a version that nobody here speaks is refused. The old dialect shares methods
// with 0.3, and a message shows it. A request to read a task need not: one with
// an integral id and nothing but the task's ID is answered in the old dialect if
// the task was made in it, which the Handler says in the task's metadata
// (MetadataDialect).
//
// # What is checked
//
// Params are checked against a shape before the SDK's types read them, because
// those are content with too much: they take any role or state, miss what is
// missing, know no snake_case and ignore the case of names. What no shape names
// is left out, and metadata and data stay as they are.
//
// # The card
//
// Clients of all versions look for the card at the same address, and most of them do
// not say what they speak: they get a card of 1.0 with the members of one of 0.3 beside
// its own, which the readers of either leave alone. A client that says A2A-Version: 1.0
// gets no member but those of 1.0, for it may be strict.
//
// # Errors
//
// JSON-RPC errors have the HTTP status 200, as clients of both versions expect.
// Exceptions are a body that is too large (413) or no JSON by its media type
// (415), and a caller who is not known (401) or not allowed (403). What fails
// before a stream has begun is an ordinary JSON reply in 1.0, and behind that an
// event. In 0.3 it is an event from the start, once the params are good: that
// version's clients take nothing else, and its test suite wants it.
//
// # Streams of 0.3
//
// They end with a status that is final, which a Handler need not think of: where the
// task itself was the last event, its status is sent once more.
//
// # Why not the SDK's handlers
//
// a2a-go has handlers for both versions. They give the events of a stream no
// IDs, so a client that was cut off cannot go on where it was; leave the media
// type of an error to be sniffed; write empty lists as null and times in any
// form; begin a stream before they know of an error; and read no snake_case. What
// is used of it are its types, its conversions to 0.3 and its card for both
// versions.
package protocol
