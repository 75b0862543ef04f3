// Package service is what every front end of the gateway needs of conversations: to start,
// address, read and decide them. It knows no HTTP and no protocol.
//
// A Service is made of a Backend (package backend has the one on Temporal). Every request has
// a Caller and a request ID. Start, Send, CancelTurn, CloseConversation and Decide return when
// the request is durable; Await waits for what it settles to, and may be repeated or given up.
// A request that comes again under its ID is carried out once. Nothing is written for a request
// that the conversation would refuse: it is asked first.
//
//	service.go   Service, and what it is made of
//	caller.go    Caller: sessions, tokens, request IDs and fingerprints
//	start.go     Start; message.go the messages of users
//	send.go      Send, CancelTurn and CloseConversation: admission before a signal
//	await.go     Await and what is known without waiting; waits.go shares few updates of a
//	             workflow between many who wait
//	decide.go    Decide, and the record of the decision that counted
//	read.go      what else can be read; document.go conversations as documents, also while no
//	             worker answers; media.go files
//	reply.go     what a request came to, or why it was refused
//	errors.go    Error, a failure that the caller is told about, and the kinds
//	backend.go   Backend, the interface, and what it takes and gives; push.go webhooks
//	store.go     refuses new work while workers have another blob store; disk.go a full disk
//	staged.go    values that are stored once their request is admitted
//	idle.go, keyedlock.go, cache.go, guard.go   what the others are built of
//
// A token is sealed for its conversation before it leaves the service (package credential) and
// is never logged. That of a decision is kept only if the approval says that it is used
// (Subject.CallAs).
package service
