// Package responses serves /v1/responses: a conversation of the agent as OpenAI's Responses, also
// known as Open Responses.
//
// endpoint.go  Endpoint; Create: a response, whole, streamed or in the background
// request.go   the body of a request; input.go its input items
// settings.go  the members of a request that a response repeats
// resource.go  the response as an object; output.go its output items
// events.go    the events of a stream, and their numbers; stream.go writes them
// socket.go    Connect: the same over a WebSocket
// compact.go   Compact: a summary of a chat, as an item
// read.go      Show, Cancel: a response that was created before; items.go Inputs, what it answers
// delete.go    Delete: it, with its conversation
// id.go        the IDs of responses, items and conversations
//
// A response is what the agent answers to one request, up to its end or to what waits. Its ID has the UUIDs of the
// conversation and of the request, and what it says is in the record. What a client has said about a response, such as
// its tools, tool_choice and metadata (settings), is kept there with the message, or with the last of the decisions that
// the request brings, so that a response that is read later says the same. It is not kept of a response that is not stored,
// and not known while the message waits for another turn. service_tier is always "default", which is what a request
// gets here, and store and truncation are in the ID.
//
// The number of an event is its position. A delta is one word of the text, after one for its first character, however that came in pieces.
// So every gateway can go on with a stream behind a number.
//
// A response that is not stored has a mark in its ID, and is not found by it, except on the WebSocket
// on which it was created.
//
// An approval is an mcp_approval_request, if the client has declared an mcp tool with the server of
// the call, or asks for it with X-Approvals; else it is a message with its card. The address in such
// a tool is not used: the tools are the agent's.
package responses
