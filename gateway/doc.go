// Package gateway is the REST API of an agent, and the one address of all its front ends. It
// turns HTTP requests into workflow starts, signals, queries and one waiting update, and keeps
// nothing: run as many gateways as you like, stop any of them at any time.
//
// # Where to look
//
//	routes.go      every URL, with the handler behind it
//	openapi.yaml   what each of them takes and gives. Tests check every reply that they
//	               get against it, so a new member needs a test whose reply has it
//	middleware.go  what happens to every request; door.go which are refused before anything
//	               reads them; tidy.go what a path may look like
//	create.go, messages.go, conversations.go, approvals.go, decide.go, media.go
//	               the handlers of conversations and approvals
//	answer.go      what a request is answered with; errors.go the one table from a kind of
//	               failure to an HTTP status
//	identity.go    who asks; paging.go pages of lists
//	offers.go      what the agent can do; docs.go, docs_read.go the page of the API; home.go,
//	               health.go, startup.go, gateway.go the rest
//
// The packages below it, from the inside to the outside:
//
//	service           start, address, read and decide conversations: no HTTP, no protocol
//	service/backend   the same on a Temporal client: the only package that knows the SDK
//	live              one follower for each conversation that somebody reads
//	request           what all front ends read out of HTTP requests; sse writes streams
//	agui              conversations as AG-UI events: pure; agui/endpoint serves them
//	a2a/task          conversations as tasks of A2A: pure
//	a2a/protocol      the protocol on the wire; a2a/handler carries out what clients ask
//	a2a/hook          the body that web hooks get, which is all of this that a worker needs
//	front             a gateway built from the configuration
//
// # Adding a front end
//
// A front end needs a service.Service and the record of a conversation. This one sends the
// text of a request and returns what the agent says (service/example_test.go, which a test
// runs, has its HTTP handler and a backend for tests):
//
//	func (e echo) ask(ctx context.Context, caller service.Caller, key, text string) (string, error) {
//		id := caller.ConversationID(key)
//		request := service.Request{ConversationID: id, ID: caller.RequestID(id, "echo", key), Repeatable: key != ""}
//		message := service.Message{Text: text}
//		if _, err := e.service.Start(ctx, caller, service.NewConversation{Request: request, Message: &message}); err != nil {
//			return "", err
//		}
//		settled, err := e.service.Await(ctx, request)
//		if err == nil {
//			err = settled.Refusal()
//		}
//		if err != nil {
//			return "", err
//		}
//		conversation, err := e.service.Record(ctx, settled.View)
//		if err != nil {
//			return "", err
//		}
//		return said(conversation.Entries()), nil
//	}
//
// The files to open, in this order:
//
//	service/example_test.go   a whole front end in 60 lines
//	service/doc.go            what a Service does, file by file
//	../workflows/record       the entries of a conversation
//	live/doc.go               if it follows conversations while they run; agui/endpoint/follow.go
//	                          is a reader that writes a stream
//	request/doc.go, sse       if it speaks HTTP like the others
//	routes.go, gateway.go     to give it a URL, and to make it
//	../deploy/arrows_test.go  to say what its package may import
//
// # Adding a field to approvals
//
//	../workflows/contract/approval.go   ApprovalInput, Pending and PendingApproval; the golden
//	                                    tests name the samples to complete, then
//	                                    go test ./workflows/contract -update
//	../workflows/ask.go                 fills it in
//	../workflows/record/document        only where the value may be in the blob store (Pending)
//	openapi.yaml                        PendingApproval; tests hold replies to it
//	agui/outcome.go, a2a/task/ask.go    for clients of AG-UI and A2A, if it is for them
//
// # Adding an event
//
// What happens in a conversation is a message of its record; ../workflows/record/entry.go says
// of which Kind. An event of AG-UI is made of an entry in agui/items.go, with its form in
// agui/values.go or agui/events.go, and written in agui/write.go. A task shows it in
// a2a/task/stream.go (entry.event). Both are tested with random conversations
// (../workflows/record/recordtest), without Temporal.
//
// # The door
//
// The gateway has no login of its own, and a web page can have its visitor's browser
// send requests here. So every request passes package guard first, except those of
// /health and /health/ready: its Host must be a name of the agent (421), its Origin
// one of the agent's own or a listed one (403), and a browser must not say that it
// comes from another site (403). Pages of AllowedOrigins get CORS headers and answers
// to preflights. The front end of another port of this machine is no foreign page,
// but gets no CORS headers either unless it is listed.
//
// A body must be JSON by its Content-Type (415): a page can send that only after a
// preflight. Members that mean nothing are refused (400), so that nothing somebody
// wrote is dropped in silence; A2A and AG-UI keep the rules of their protocols.
//
// # The life of a request that changes something
//
// A POST gets a request ID: random, or derived from its Idempotency-Key. The
// signal (or the workflow start) that carries the ID is durable once Temporal
// has acknowledged it; from then on nothing the client or this process does can
// undo it. Waiting for the answer is a separate step that may be lost and
// repeated. When the answer is not there in time, or the client prefers not to
// wait (Prefer: respond-async), or the gateway shuts down, the reply is 202 with
// the address at which the answer can be read later.
//
// What a message refers to by its address, a long text or an image, is stored when the
// conversation has admitted the message (service/staged.go), so that a refused one leaves
// nothing behind.
//
// A repeated request has the same request ID, so the conversation carries it
// out once and gives the first answer again. The fingerprint that travels with
// it tells a repetition from a different request under a used key (422).
//
// # Health
//
// GET /health says that this process lives. GET /health/ready is 200 only when
// Temporal, a worker and every tool server answer, and its body says which do. The
// worker's answer has what is wrong with its keys, variables and tools, and shows
// whether it has the same blob store: each side has put a transcript.Probe there,
// and looks for that of the other. While they are known to have two, no conversation
// and no message is accepted (service/store.go).
// A load balancer that should keep sending requests while one tool server is
// down must look at /health.
package gateway
