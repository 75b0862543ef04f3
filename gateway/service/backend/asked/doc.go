// Package asked knows what approvals are about that the worker of this process has just asked for.
//
//	approvals := asked.New()     // with approvals.Interceptor() on the process's connection
//	info := approvals.Take(workflowID)
//
// Whoever decides an approval is checked against its search attributes and its memo. The worker of the
// process has sent both to the server a moment before, so the first decision asks the server for neither.
// What is known here is that with which the approval was begun: the conversation, its owner, the approvers,
// whose token is used and the schema, none of which changes. It is given away once, because the gateway
// keeps what it has read, and only after the server has accepted the workflow task that asks.
package asked
