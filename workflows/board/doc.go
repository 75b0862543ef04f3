// Package board passes the outcomes of requests from the worker of a process to the gateway of the
// same process, which would otherwise ask the conversation with an update that waits.
//
//	b := board.New()                          // with b.Interceptor() on the process's connection
//	board.With(b)                             // an interceptor of the worker
//	b.Expect(request)                         // the gateway, before it sends a new request
//	result, view, ok := b.Await(ctx, conversation, []string{request})
//
// A conversation posts each request that settles (Poster). What it posts in a workflow task is a draft
// until the server has accepted the task: only then is it in the history, and only then does the gateway
// get it. A task that the server refuses, or that another one replaces, leaves nothing. So an outcome on
// the board is as durable as the answer to an update, at the price of none: no update in the history, no
// workflow task that only accepts one, and no request.
//
// The conversation of the last outcome of a task is what a query would return, if nothing in the task has
// changed it afterwards. A View says so, and with which count of changes: the gateway keeps it for whoever
// reads the conversation next.
//
// The board is a short cut, not a record. Await gives up when an outcome does not come within ten
// seconds, when it is not expected (after a restart, or for a request that was sent before), and when the
// conversation is terminated or reset; the gateway then asks the conversation itself. It is for the process whose
// worker is the only one: another worker would post nowhere, and every answer would come ten seconds late.
//
// # Where to look
//
//	board.go      what is expected, and Await
//	workflow.go   Poster, and the worker's interceptor
//	intercept.go  the connection's interceptor: when a workflow task begins and is accepted
package board
