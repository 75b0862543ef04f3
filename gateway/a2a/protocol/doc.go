// Package protocol implements the server side of A2A (Agent2Agent). It reads HTTP and JSON-RPC
// in three dialects, all on one POST /a2a, and calls a Handler with the types of the A2A SDK in
// their 1.0 form. Code behind this package sees no other version.
//
//	1.0   methods such as SendMessage; ProtoJSON, in camelCase or snake_case
//	0.3   methods such as message/send; every object has a "kind"
//	old   0.3's methods, with parts that have a "type" and a taskId beside the message: the
//	      dialect of this project's predecessor
//
// # How to use it
//
//	server := protocol.New(handler, protocol.Options{Logger: log, Closing: ctx})
//	e.POST("/a2a", echo.WrapHandler(http.HandlerFunc(server.RPC)))
//	e.POST("/a2a/", …)                       // clients that add a slash
//	e.GET("/a2a", echo.WrapHandler(http.HandlerFunc(server.Card)))
//	e.GET("/.well-known/agent-card.json", …) // and /.well-known/agent.json, and HEAD
//
// The caller limits the size of bodies with http.MaxBytesReader. A stream lasts as long as the
// context of its request, so that context must have no deadline.
//
// # Where to look
//
//	handler.go      Handler, which the gateway implements, and Call, what it may read of a request
//	methods.go      the table of methods of both versions
//	server.go       the life of a request and of a stream; fail is the only function that writes
//	                errors
//	envelope.go     JSON-RPC, media types and versions; extensions.go extensions;
//	                duplicates.go duplicate members
//	shape.go        how params are checked; params_*.go the shape of each request
//	results*.go     the encoding of a Handler's results; notification.go the body of web hooks
//	old.go          the old dialect
//	errors.go       the table from errors to codes
//	card.go         the agent's card; card_http.go serves it
//
// # Which dialect
//
// The method decides between 1.0 and 0.3, whatever version the header claims; only an
// unsupported version is refused. The old dialect shares its methods with 0.3, and the form of
// a message distinguishes the two. A request to read a task has no message: if it has an
// integral id and only the task's ID as params, it is answered in the old dialect if the task
// was created in it, which the Handler states in the task's metadata (MetadataDialect).
//
// # What is checked
//
// Params are checked against a shape before they are decoded into the SDK's types. Those types
// are too lenient: they accept any role or state and missing members, and ignore the case of
// names; they also do not accept snake_case. Members that a shape does not name are dropped.
// metadata and data are kept as they are.
//
// # The card
//
// Clients of all versions fetch the card from the same address, and most of them send no
// version. They get a 1.0 card that also has the members of a 0.3 card; each reader ignores the
// members that it does not know. A client that sends A2A-Version: 1.0 may be strict, so it gets
// only the members of 1.0.
//
// # Errors
//
// JSON-RPC errors have the HTTP status 200, as clients of both versions expect. The exceptions
// are a body that is too large (413) or has another media type (415), and a caller who is not
// authenticated (401) or not allowed (403). In 1.0 an error before the first event of a stream
// is an ordinary JSON reply, and a later one is an event. In 0.3 every error after the params
// were accepted is an event: that version's clients expect nothing else, and its test suite
// requires it.
//
// # Streams of 0.3
//
// They end with a status whose final member is true. Handlers need not care: if the last event
// was the task itself, its status is sent once more.
//
// # Why not the SDK's handlers
//
// a2a-go has handlers for both versions. They give the events of a stream no IDs, so clients
// cannot resume; set no media type on errors; encode empty lists as null and times in any
// format; begin a stream before they know of an error; and read no snake_case. Its types, its
// conversions to 0.3 and its card for both versions are used.
package protocol
