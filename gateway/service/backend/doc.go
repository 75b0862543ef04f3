// Package backend implements service.Backend with a Temporal client: a conversation is a
// workflow, an approval is a workflow of its own, and lists are visibility queries. It is the
// only package of the gateway that uses the SDK.
//
//	temporal.go   New; signalling conversations; the meaning of errors; start.go starts them
//	admit.go      whether a conversation would accept a signal
//	await.go      reading conversations and waiting for results, on the board of the worker if that
//	              is in this process (package board)
//	lists.go      pages of conversations and approvals; tasks.go pages of tasks
//	approvals.go  reading approvals (package asked knows new ones); ended.go those that ended without a decision;
//	              typist.go whose signal decided
//	decide.go     deciding; edit.go with changes, later.go not now; proof.go proves who
//	singleton.go  workflows of which one runs: switches.go Control, deputies.go Deputies;
//	              grants.go Grants; rates.go the counters of rate limits
//	catalogue.go  the tools of a worker, and whether one runs; store.go whether it
//	              has the same blob store; survey.go counts for metrics
//	push.go       webhooks; delete.go starts deletions
//	trouble.go    why a conversation does not answer; tree.go its tree
package backend
