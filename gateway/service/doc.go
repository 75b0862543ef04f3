// Package service is what every front end of the gateway needs of conversations: to start,
// address, read and decide them. It knows no HTTP and no protocol.
//
//	backend.go   Backend, the interface, and what it takes and gives
//	errors.go    Error, a failure that the caller is told about, and the kinds
//	push.go      webhooks
//	temporal*.go the Backend on a Temporal client: a conversation is a workflow
package service
