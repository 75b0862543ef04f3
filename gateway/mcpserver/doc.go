// Package mcpserver serves the agent as an MCP server, at /mcp: Streamable HTTP, of the protocols to
// 2025-11-25 with sessions and of 2026-07-28 without.
//
// server.go    Server: the HTTP handler, and for whom a request works
// sessions.go  sessions: whose they are, and how many one caller has
// tools.go     the tools: one for the agent, and one for each node at the top of its tree
// ask.go       a call: a message, and what comes of it
// approvals.go the approvals of a call, by elicitation
// result.go    the result of a call; progress.go its progress
// cancel.go    notifications/cancelled
// resources.go conversations and their files as resources
// metadata.go  who issues tokens for the server; errors.go errors of the transport as JSON
//
// A call is a message to a conversation: a new one, or the one that it names. Its result is what the
// agent says, up to its end or to what waits. A client that asks for progress gets the text while it
// is written. A call that is sent again with its idempotency key gets the result of the first one.
//
// An approval that a yes or a no decides is asked for by elicitation, if the client can that and the
// caller has the scope approve. The answer is a decision of the caller, with the caller's rights, like
// one over the REST API. Otherwise, or if nobody answers, the result names what waits and why, and has
// the link to its card; a call with the conversation and no message goes on when it is decided. No
// code is shown with which a chat decides (package passcode): the model of the client reads results,
// and could send it.
//
// A call whose connection is lost goes on; its conversation is a resource. notifications/cancelled
// cancels the turn of the call, also after its connection is lost. The protocol without sessions has
// no such notification: the end of a request there is the end of its connection.
//
// A session is for the caller that has begun it, and unknown to others. Sessions are in the memory of
// this process: with several gateways, the requests of a session have to reach the same one.
package mcpserver
