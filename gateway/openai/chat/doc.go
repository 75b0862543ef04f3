// Package chat serves POST /v1/chat/completions: a conversation of the agent as a chat of OpenAI.
//
// endpoint.go  Endpoint, and how a request is carried out, by package talk
// request.go   the body of a request
// reply.go     the reply as one object; stream.go as chunks
//
// The client sends all of its chat each time. Package history finds the conversation that it
// continues, and only what is new is sent. Messages of the role system and developer are context of
// the message; they never are the prompt of the agent.
//
// The answer is what the agent says until it is done or something waits. Calls of the client's
// functions are tool_calls. Approvals are a text after that (package passcode).
//
// If the model fails and nothing was said, that is an error, which no client repeats by itself
// (openai.KindModelFailed); in a stream it follows what was said.
package chat
