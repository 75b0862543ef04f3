// Package calls is the worker's side of package handover: calls that this process starts in
// local activities, and that regular activities may join.
//
//	table.go           the calls, and for how long they hold a workflow task
//	call.go            Start and Join, the activities around a call
//	heartbeat.go       heartbeats of a call
//	workflow_tasks.go  workflow tasks that are held, and their release
//	notice.go          requests that need a held workflow task
//
// A call is a goroutine with its own context. The local activity waits for it while the
// workflow task may be held, and then returns a ticket; the regular activity that joins the
// call waits for the rest. Neither repeats the call. A call that is not joined within a minute
// is cancelled. A call that has ended is kept until its workflow task is complete, because the task
// may be done again. It keeps neither the context of its local activity nor that of the activity that
// has joined it: they refer to the workflow, which may leave the worker's cache.
//
// A call that must not be repeated is started here only if it is claimed before it is sent
// (Table.ClaimsCalls): a workflow task that is done again would send it again. In this process it
// finds the call and its result. After a crash it finds the claim, and a person is asked. So that
// this happens rarely, its workflow task is released a tenth of a second after the call has ended.
//
// # How long a workflow task is held
//
// A signal or a query waits while a local activity runs, so all calls of one workflow task
// together may take one and a half seconds, and less if a request to the conversation arrives:
// an interceptor of the server in this process sees the requests of all clients, and hands the
// calls over. The server buffers a request that arrives after a workflow task has started. If
// that is before the first call, the task is not held at all.
//
// The interceptor does not see the requests to a server in another process, nor the actions of
// child workflows. There a workflow task is held for 100 milliseconds: long enough for calls
// that are cheaper locally, and a short delay for requests.
package calls
