// Package tasklog records in a file which tasks a worker holds, so that the next process can
// give them back after a kill. Without it Temporal waits for timeouts: ten seconds for a
// workflow task, twenty for the heartbeat of an activity.
//
//	log, err := tasklog.Open(path, logger) // or Claim, where several workers share a directory
//	// dial with grpc.WithChainUnaryInterceptor(log.Interceptor())
//	lost, err := log.GiveBack(ctx, client.WorkflowService(), namespace) // before the worker polls
//
// # What is where
//
//	log.go        the file: the held tasks, in the order of events; Open reads it
//	record.go     a line of it
//	intercept.go  which calls of the SDK take a task, and which complete one
//	giveback.go   fails the tasks of a process that has died
//	claim.go      the files of several workers that share a directory
//
// # What is recorded
//
// A task is recorded when the answer of a poll arrives, or the answer of another call that
// contains one: a workflow task with the completion of the previous one, activities with the
// completion of the workflow task that scheduled them. It is removed when the server has
// accepted its result, or does not know the task any more. If a result does not reach the
// server, the task remains recorded. A task whose poll was not answered before the kill is in
// no file. It waits for its timeout.
//
// Each event is one append without fsync. That survives the end of the process, but not a crash
// of the machine, after which timeouts have passed anyway. Errors of the file do not delay
// tasks: they are logged, and cost only time after the next kill.
//
// # How a lost task is failed
//
// For a failed workflow task the server makes a new one at once. An activity fails with the
// timeout of a missing heartbeat, inside a failure that requests the next attempt without a
// pause. So an activity that may be repeated is repeated at once, and the outcome of any other
// is unknown, as after the timeout.
package tasklog
