// Package calls is the worker's side of package handover: the calls that this process has
// started in local activities, and may go on with in regular ones.
//
//	table.go      the calls, and how long they hold a workflow task
//	call.go       Start and Join, the activities around a call
//	heartbeat.go  heartbeats of a call
//	notice.go     what needs a workflow task that is held
//
// A call is a goroutine with a context of its own. The local activity waits for it while the
// workflow task may be held, and else returns a ticket; the activity that joins waits for the
// rest. Neither repeats it. A call that nobody joins within a minute is cancelled.
//
// # How long a workflow task is held
//
// A signal or a query waits while a local activity runs, so all calls of one workflow task
// together may take two seconds, and less if somebody sends to the conversation: an interceptor
// of the process's own connection sees that before the server does, and has the calls handed
// over. It cannot see what other processes send, nor what child workflows do. There a
// workflow task is held for 200 milliseconds: enough for calls that are cheaper to make
// locally, and short for those who wait.
//
// Something sent in the milliseconds between the begin of a workflow task and its first call
// is not noticed either, and waits for the two seconds.
package calls
