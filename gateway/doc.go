// Package gateway is the REST API of an agent. It turns HTTP requests into
// workflow starts, signals, queries and one waiting update, and keeps nothing:
// run as many gateways as you like, stop any of them at any time.
//
// # Where to look
//
//	routes.go      every URL, with the handler behind it
//	home.go        the page, or the JSON, that leads to all of them
//	openapi.yaml   what each of them takes and gives; tests hold both together
//	service        what the handlers need of the world, and the same on a Temporal client:
//	               the only files that know the SDK
//	exported.go    what is shown of a conversation while no worker answers
//	waits.go       how many HTTP clients wait on few workflow updates
//	errors.go      the one table from a kind of failure to an HTTP status
//	live           one follower for each conversation that somebody reads
//	events*.go     what is followed as a stream of events
//	agui_*.go      the AG-UI endpoint; package agui makes the events
//	a2a*.go        what clients of A2A ask; package tasks speaks the protocol, and
//	               tasks/hook tells web hooks, which is all of this that a worker needs
//	door.go        which requests are refused before anything reads them
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
// wrote is dropped in silence; A2A and AG-UI keep the rules of their protocols. What
// a path may look like is in tidy.go.
//
// # The life of a request that changes something
//
// A POST gets a request id: random, or derived from its Idempotency-Key. The
// signal (or the workflow start) that carries the id is durable once Temporal
// has acknowledged it; from then on nothing the client or this process does can
// undo it. Waiting for the answer is a separate step that may be lost and
// repeated. When the answer is not there in time, or the client prefers not to
// wait (Prefer: respond-async), or the gateway shuts down, the reply is 202 with
// the address at which the answer can be read later.
//
// What a message refers to by its address, a long text or an image, is stored when the
// conversation has admitted the message (staged.go), so that a refused one leaves
// nothing behind.
//
// A repeated request has the same request id, so the conversation carries it
// out once and gives the first answer again. The fingerprint that travels with
// it tells a repetition from a different request under a used key (422).
//
// # Streams
//
// Whoever follows a conversation is a reader of its follower (package live). Without a
// feed a stream has everything that lasts, only later and not letter by letter. Package
// agui turns what a reader is told into events. Readers that were told the same, up to
// the same place, share one stream: their events are made and written out once for all
// of them (events_shared.go).
//
// A POST that is answered with a stream first does what it does anyway, and then
// shows the part of the conversation that is its turn. What is refused before the
// turn has begun is an ordinary error.
//
// An AG-UI thread is a conversation: the one whose ID it has for a name, or one
// with an ID derived from the name. What a run brings is compared with what the
// conversation has. New messages are sent, results of the client's tools and
// answers to interrupts are decisions, and all of it is checked before any is
// carried out. The names of messages and what decisions say make their request
// ids, so a run that is posted again changes nothing.
//
// A Stream tells everybody AG-UI 1.0. For a client that is older, which is one that
// names no version, an agui.Legacy rewrites what is about to be written. Its reader shares
// its stream with nobody. The state of a run is the front end's: it goes into the
// Stream as it came, and the agent's own is a member beside it.
//
// # Tasks
//
// A task of A2A is a conversation with the same ID, and there is no other store of
// tasks. The ID and the request ids are made of what the client sent, so a message
// that comes twice is one. A task ends with its turn, unless the turn waits; tasks
// of the old dialect go on like other conversations. Package tasks reads requests and
// writes answers in each dialect, package story tells a conversation as a task and
// reads decisions out of messages. A stream of a task is a reader of a follower as well,
// but of the sort that is told only what was read: news comes before Temporal has recorded
// what it is about, and clients of A2A leave when they hear of a final state.
//
// A message without a task's ID may answer an approval by its UUID, and else is looked
// at with its context (a2a_context.go). Which tasks of that wait is asked of visibility
// and of each task itself, because visibility is late; those that this gateway began a
// moment ago are remembered for as long as that may be.
//
// Webhooks belong to a workflow beside the conversation, which starts before it
// when they came with the first message.
//
// # Health
//
// GET /health says that this process lives. GET /health/ready is 200 only when
// Temporal, a worker and every tool server answer, and its body says which do. The
// worker's answer has what is wrong with its keys, variables and tools, and shows
// whether it has the same blob store: each side has put a transcript.Probe there,
// and looks for that of the other. While they are known to have two, no conversation
// and no message is accepted (store.go).
// A load balancer that should keep sending requests while one tool server is
// down must look at /health.
//
// # Secrets
//
// A bearer token is sealed for its conversation before it leaves the handler
// (package credential) and is never logged. That of a decision is kept only if the
// approval says that it is used (Subject.CallAs). Records of decisions are stripped of
// the sealed token before they are shown.
package gateway
