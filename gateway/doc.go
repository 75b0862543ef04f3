// Package gateway is the REST API of an agent. It turns HTTP requests into
// workflow starts, signals, queries and one waiting update, and keeps nothing:
// run as many gateways as you like, stop any of them at any time.
//
// # Where to look
//
//	routes.go      every URL, with the handler behind it
//	openapi.yaml   what each of them takes and gives; tests hold both together
//	backend.go     what the handlers need of the world, as small interfaces
//	temporal*.go   the same on a Temporal client: the only files that know the SDK
//	waits.go       how many HTTP clients wait on few workflow updates
//	errors.go      the one table from a kind of failure to an HTTP status
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
// A repeated request has the same request id, so the conversation carries it
// out once and gives the first answer again. The fingerprint that travels with
// it tells a repetition from a different request under a used key (422).
//
// # Health
//
// GET /health says that this process lives. GET /health/ready is 200 only when
// Temporal, a worker and every tool server answer, and its body says which do.
// A load balancer that should keep sending requests while one tool server is
// down must look at /health.
//
// # Secrets
//
// A bearer token is sealed for its conversation before it leaves the handler
// (package credential) and is never logged. Records of decisions are stripped of
// the sealed token before they are shown.
package gateway
