// Package backend is the service.Backend on a Temporal client: a conversation is a workflow,
// an approval another one, and lists are queries of visibility. It is the only package of the
// gateway that knows the SDK.
//
//	temporal.go   New; starting and signalling conversations; which errors mean what
//	admit.go      whether a conversation would take a signal
//	await.go      reading conversations and waiting for answers
//	lists.go      pages of conversations and approvals; tasks.go pages of tasks
//	approvals.go  deciding and reading approvals; ended.go those that ended without a decision
//	catalogue.go  what a worker offers; attended.go whether there is one; store.go whether it
//	              has the same blob store
//	push.go       webhooks
//	trouble.go    why a conversation does not answer; tree.go its tree
package backend
