// Package snapshot reads conversations that have not changed since they were read without
// asking a worker.
//
//	changes := &snapshot.Changes{}     // with changes.Interceptor() on the process's connection
//	views := snapshot.New(changes, time.Now)
//	view, err := views.Read(ctx, workflowID, source)
//
// A view is a function of a workflow's history. So one that was read stays right as long as
// the server says that the history has the same length and that no task is pending. Asking the
// server for that costs less than asking a worker, and works without one.
//
// In the process that runs the only worker even this question is not asked each time: all that
// happens to a workflow either passes through this process's connection, where Changes counts
// it, or is seen a second later. The latter are operations of others that give the worker no
// task, such as `temporal workflow terminate`.
//
// # Where to look
//
//	views.go    Views and Mark
//	changes.go  Changes
package snapshot
