// Package calls is the worker's side of package handover: calls that this process starts in
// local activities, and that regular activities may join.
//
//	table.go      the calls, and for how long they hold a workflow task
//	call.go       Start and Join, the activities around a call
//	heartbeat.go  heartbeats of a call
//	notice.go     requests that need a held workflow task
//
// A call is a goroutine with its own context. The local activity waits for it while the
// workflow task may be held, and then returns a ticket; the regular activity that joins the
// call waits for the rest. Neither repeats the call. A call that is not joined within a minute
// is cancelled.
//
// # How long a workflow task is held
//
// A signal or a query waits while a local activity runs, so all calls of one workflow task
// together may take two seconds, and less if a request to the conversation is sent: an
// interceptor of the process's own connection sees the request before the server does, and
// hands the calls over. It cannot see requests of other processes or the actions of child
// workflows. There a workflow task is held for 200 milliseconds: long enough for calls that are
// cheaper locally, and a short delay for requests.
//
// Requests in the milliseconds between the start of a workflow task and its first call are not
// noticed either, and wait for the two seconds.
package calls
