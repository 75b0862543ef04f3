// Package handler carries out what clients of A2A ask. A task is a conversation with the same
// ID, and there is no other store of tasks. Package protocol reads requests and writes answers
// in each dialect; package task shows a conversation as a task.
//
//	handler.go   Handler; reading tasks; the one table from a kind of failure to an error of A2A
//	card.go      the agent's card
//	message.go   a message of A2A as the agent gets it
//	send.go      sending messages, and waiting for what they come to
//	answers.go   messages that decide what waits
//	context.go   messages that name no task
//	stream.go    tasks as streams of events
//	tasks.go     reading, cancelling and listing tasks
//	push.go      webhooks
//
// The ID of a task and the request IDs are made of what the client sent, so a message that
// comes twice is one. A task ends with its turn, unless the turn waits; tasks of the old
// dialect go on like other conversations.
//
// A message without a task's ID may answer an approval by its UUID; otherwise its context
// decides (context.go). Which tasks of a context wait is asked of visibility and of each task
// itself, because visibility is late; those that this gateway started a moment ago are
// remembered for as long as that may take.
//
// A stream of a task is a reader of a follower that shows only what was read: news comes before
// Temporal has recorded what it is about, and clients of A2A leave when they hear of a final
// state.
//
// Webhooks belong to a workflow beside the conversation, which starts before it when they came
// with the first message.
package handler
