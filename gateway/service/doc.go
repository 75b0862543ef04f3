// Package service is what every front end of the gateway needs: it starts, signals, reads and
// decides conversations. It knows no HTTP and no protocol.
//
// A Service uses a Backend (package backend implements it with Temporal). Every request has a
// Caller and a request ID. Start, Send, CancelTurn, CloseConversation and Decide return when the
// request is durable; Await waits for its settlement, and may be repeated or abandoned. A
// request that is sent again with its ID is carried out once. Before a signal is sent, the
// conversation is asked whether it would refuse it, because a refused signal would still write
// history.
//
// service.go   Service and its Options
// caller.go    Caller: sessions, tokens, IDs that are derived from what a client chose, fingerprints
// start.go     Start, and StartAndAwait in one request; message.go the messages of users
// send.go      Send, CancelTurn and CloseConversation: admission before a signal; Delete
// await.go     Await and Settled; waits.go shares few updates of a workflow among all waiters
// decide.go    Decide, and the record of the decision that counts
// deputies.go  Later: not now; who decides in whose place
// read.go      other reads; document.go conversations as documents, also while no worker
//
//	answers; media.go files
//
// reply.go     the result or the refusal of a request
// errors.go    Error, an error for callers, and its kinds; panics as errors
// backend.go   Backend, the interface, with its inputs and results; push.go webhooks
// store.go     refuses new work while workers have another blob store; disk.go a full disk
// switches.go  switches that pause destructive calls, and rate limits
// staged.go    values that are stored when their request is admitted
// keyedlock.go, cache.go   building blocks of the others
//
// idle         a package: conversations that need not be asked before a message
//
// A token is sealed for its conversation before it leaves the service (package credential) and
// is never logged. The token of a decision is kept only if the approval uses it
// (Subject.CallAs).
package service
