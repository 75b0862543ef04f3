// Package tasklog notes which tasks a worker holds, in a file, so that the process after
// it can give back those that a kill has left. Without it Temporal waits for timeouts:
// ten seconds for a workflow task, twenty for the heartbeat of an activity.
//
//	log, err := tasklog.Open(path, logger) // or Claim, where several workers share a directory
//	// dial with grpc.WithChainUnaryInterceptor(log.Interceptor())
//	lost, err := log.GiveBack(ctx, client.WorkflowService(), namespace) // before the worker polls
//
// # What is where
//
//	log.go        the file: tasks that are held, in the order of events; Open reads it
//	record.go     a line of it
//	intercept.go  which calls of the SDK take a task and which answer one
//	giveback.go   what a process that has died held is answered in its place
//	claim.go      which file is whose, where several workers share a directory
//
// # What is noted
//
// A task is noted when the answer of a poll arrives, or that of another call which brings
// one along: a workflow task with the completion of the one before, activities with the
// completion of the workflow task that scheduled them. It is crossed out when the server
// has accepted its result, or says that it does not know the task any more. What failed to
// reach the server stays noted. A task that was given out, but whose poll was not answered
// before the kill, is in no file: that one waits for its timeout.
//
// Each event is one append without fsync. That survives the death of the process, and not
// that of the machine, after which timeouts have passed anyway. Errors of the file hold up
// no task: they are logged, and cost only time after the next kill.
//
// # How a lost task is failed
//
// A workflow task fails, which the server answers with a new one at once. An activity fails
// with what a missing heartbeat would have meant, a timeout, inside a failure that asks for
// the next attempt without a pause. So one that may be repeated is repeated at once, and the
// outcome of one that may not is unknown, as after the timeout.
package tasklog
