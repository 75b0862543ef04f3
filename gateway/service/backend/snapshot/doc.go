// Package snapshot reads conversations that have not changed since they were last read without
// asking a worker.
//
//	changes := &snapshot.Changes{}     // with changes.Interceptor() on the process's connection
//	views := snapshot.New(changes, time.Now)
//	view, err := views.Read(ctx, workflowID, source)
//
// A view is a function of a workflow's history. So a view stays valid as long as the server
// reports the same length of the history and no pending task. Asking the server costs less than
// asking a worker, and needs none.
//
// In the process that runs the only worker, even the server is not asked every time. Everything
// that happens to a workflow passes through this process's connection, where Changes counts it,
// with one exception: operations of others that give the worker no task, such as
// `temporal workflow terminate`. They are noticed up to a second later.
//
// # Where to look
//
//	views.go    Views and Mark
//	changes.go  Changes
package snapshot
