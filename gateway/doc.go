// Package gateway is the REST API of an agent, and the address of all its front ends. It turns
// HTTP requests into workflow starts, signals, queries and one waiting update, and keeps no
// state: any number of gateways may run, and each may be stopped at any time.
//
// # Where to look
//
//	routes.go      every URL, with the handler behind it
//	openapi.yaml   the description of each. Tests validate every reply that they get against
//	               it, so a new member needs a test whose reply contains it
//	middleware.go  what happens to every request, also to its path; door.go the requests that are refused
//	               first
//	create.go, messages.go, conversations.go, approvals.go, decide.go, bulk.go, media.go
//	               the handlers of conversations and approvals
//	deletion.go    deletes conversations
//	answer.go      the reply to a request; errors.go the table from error kind to HTTP status
//	callers.go     who calls: proof, scope of the route, GET /me; proof.go streams end with the proof
//	identity.go    request IDs; paging.go pages of lists
//	docs.go        the page of the API; health.go, startup.go probes; gateway.go New and Close; ports.go
//	               the ports for clients of other protocols
//
// The packages below it, from the inside to the outside:
//
//	identity          proves who calls: keys (package keys has their file), tokens, a proxy, and
//	                  sessions of browsers (package session)
//	login             logs people in with a browser: /auth/*
//	desk              puts approvals off, has deputies and standing grants: /deputies, /grants
//	service           start, signal, read and decide conversations: no HTTP, no protocol
//	service/graves    tells deleted conversations from unknown ones
//	service/search    finds conversations by words
//	service/access    that each caller sees and decides only what is theirs
//	service/backend   the same with a Temporal client: the only package that uses the SDK;
//	                  its package snapshot keeps conversations that do not change
//	live              one follower for each conversation that has readers
//	turn              the part of a conversation that belongs to a request
//	bulk              several decisions in one request
//	control           switches and rate limits, for operators
//	request           what all front ends read from HTTP requests; sse writes streams
//	agui              conversations as AG-UI events: pure; agui/endpoint serves them
//	history           finds the conversation that a chat client continues, by what was said
//	passcode          one-time codes with which people approve in a chat
//	exchange          a request and its reply as one text, while it is written
//	openai            OpenAI's API: openai/chat serves chat/completions, openai/responses
//	                  responses; openai/talk carries out what they are sent
//	ollama            Ollama's API, on a port of its own (ports.go)
//	agentapi          the API of MCP Agent for its clients and its shell, on ports of their own
//	mcpserver         the agent as an MCP server, at /mcp
//	apidoc            reads openapi.yaml for the page of the API
//	home              what is at the root: the page, or the links of the API
//	page              the page for people: static files; offers what the agent can do, and the
//	                  names under which clients ask it
//	slackchat         Slack, and GET and POST /slack/link, where its users say who they are
//	a2a/task          conversations as A2A tasks: pure
//	a2a/protocol      the protocol on the wire; a2a/handler carries out requests
//	witness           countersigns the checkpoints of the audit logs of others
//	a2a/hook          the body of web hooks, the only part that a worker needs
//	server            builds a gateway from the configuration and serves it
//
// # Adding a front end
//
// A front end needs a service.Service and the record of a conversation. This one sends the
// text of a request and returns what the agent says (service/example_test.go, which a test
// runs, has its HTTP handler and a backend for tests):
//
//	func (e echo) ask(ctx context.Context, caller service.Caller, key, text string) (string, error) {
//		id, err := e.service.NewID(ctx, caller, key)
//		if err != nil {
//			return "", err
//		}
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
//		return textOf(conversation.Entries()), nil
//	}
//
// The files to open, in this order:
//
//	service/example_test.go   a whole front end in 60 lines
//	service/doc.go            what a Service does, file by file
//	../workflows/record       the entries of a conversation
//	live/doc.go, turn         to follow conversations while they run; agui/endpoint/follow.go
//	                          is a reader that writes a stream
//	request/doc.go, sse       to read requests and write streams like the others
//	routes.go, gateway.go     to give it a URL, and to create it
//	../deploy/arrows_test.go  to list what its package may import
//
// # Adding a field to approvals
//
//	../workflows/contract/approval.go   ApprovalInput, Pending and PendingApproval; the golden
//	                                    tests name the samples to complete, then
//	                                    go test ./workflows/contract -update
//	../workflows/ask.go                 fills it in
//	../workflows/record/document        only if the value may be in the blob store (Pending)
//	openapi.yaml                        PendingApproval; tests validate replies against it
//	agui/outcome.go, a2a/task/ask.go    if clients of AG-UI and A2A need it
//
// # Adding an event
//
// Everything that happens in a conversation is a message of its record, whose Kind is decided in
// ../workflows/record/entry.go. AG-UI: agui/items.go makes an event from an entry, agui/events.go
// and agui/values.go define its form, and agui/write.go sends it. A2A: a2a/task/stream.go
// (entry.event). Both are tested with random conversations (../workflows/record/recordtest),
// without Temporal.
//
// # The door
//
// A web page can have its visitor's browser send requests here. So package guard checks every request first, except those of /health and
// /health/ready: the Host must be a name of the agent (421), the Origin must be the agent's own or
// a listed one (403), and Sec-Fetch-Site must not name another site (403). Pages of
// AllowedOrigins get CORS headers and answers to preflights. A page from another port of this
// machine is not refused, but gets CORS headers only if it is listed.
//
// Behind it, if there are Deps.Callers, a request must prove who calls (401) and the caller must
// have the scope of its route (403). From there on the context says for whom it works
// (service.ActingFor), and package access compares that with the owner of whatever is read or
// changed. What is shared by callers, such as a wait, a follower or a coalesced read, works
// for the gateway itself; each caller is checked when it joins (service.See). A route names its
// scope in routes.go and in openapi.yaml; a test asks every route as every kind of caller.
//
// The Content-Type of a body must be JSON (415): a page of another site can send that only after
// a preflight. Unknown members are refused (400), so that nothing a caller wrote is ignored
// silently; A2A and AG-UI follow the rules of their protocols.
//
// # The life of a request that changes something
//
// A POST gets a request ID: random, or derived from its Idempotency-Key. The signal (or the
// workflow start) that carries the ID is durable once Temporal has acknowledged it; after that,
// neither the client nor this process can undo it. Waiting for the answer is a separate step that
// may fail and be repeated. If the answer takes too long, or the client prefers not to wait
// (Prefer: respond-async), or the gateway shuts down, the reply is a 202 with the address at which
// the answer can be read later.
//
// Values that a message refers to by address, such as a long text or an image, are stored after
// the conversation has admitted the message (service/staged.go), so that a refused one leaves
// nothing behind.
//
// A repeated request has the same request ID, so the conversation carries it out once and gives
// the first answer again. The fingerprint of the request distinguishes a repetition from a
// different request with the same key (422).
//
// # Health
//
// GET /health reports that this process runs. GET /health/ready is 200 only if Temporal, a worker
// and every tool server answer; its body lists them. The worker's answer contains the problems of
// its keys, variables and tools, and shows whether it has the same blob store: each side has put a
// transcript.Probe there, and looks for that of the other. While the two are known to differ, no
// conversation and no message is accepted (service/store.go). A load balancer that should keep
// sending requests while one tool server is down must use /health.
package gateway
