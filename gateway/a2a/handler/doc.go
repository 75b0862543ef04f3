// Package handler carries out the requests of A2A clients. A task is a conversation with the
// same ID; there is no other store of tasks. Package protocol decodes requests and encodes
// replies in each dialect; package task shows a conversation as a task.
//
// handler.go   Handler; reading tasks; the table from error kinds to A2A errors
// card.go      the agent's card
// message.go   reading an A2A message into the agent's input
// send.go      sending messages, and waiting for the result
// answers.go   messages that decide approvals
// context.go   messages that name no task
// references.go messages that continue earlier tasks
// stream.go    tasks as streams of events
// tasks.go     reading, cancelling and listing tasks
// push.go      webhooks
//
// Task IDs and request IDs are derived from what the client sent, so a message that is sent
// twice is carried out once. A task ends with its turn, unless the turn waits; tasks of the old
// dialect continue like other conversations.
//
// A message without a task ID may answer an approval by its UUID; otherwise its context decides
// (context.go). The waiting tasks of a context are found through visibility and by reading each
// task. Visibility lags, so the gateway also remembers the tasks that it started a moment ago.
//
// A task stream reads only committed states (live.JoinCommitted): an event may arrive before
// Temporal has recorded its state, and A2A clients disconnect at a final state.
//
// The webhooks of a task belong to a workflow of their own. If they come with the first message,
// that workflow starts before the conversation.
package handler
