// Package client is a client of the REST API of an agent. It imports the standard library and
// the names of events only.
//
//	c, err := client.New("http://127.0.0.1:8080", client.Options{})
//	for event, err := range c.Send(ctx, "", client.NewMessage{Message: "list the resources"}) {
//		…
//	}
//
// client.go         Client: addresses, keys, replies and errors
// types.go          what the API returns; every member of openapi.yaml is there
// conversations.go  conversations: list, read, cancel, close, delete
// approvals.go      approvals: list, read, decide
// grants.go         approvals that count for later calls, too
// commands.go       commands of chats, such as !list
// agent.go          what the agent offers, and whether it is ready
// event.go          Event, and how events are read from a stream
// stream.go         Send and Follow: events, with new connections where one is lost
// watchdog.go       ends requests whose server says nothing
// transcript.go     Transcript: what a reader of events holds
//
// A request that changes something carries an Idempotency-Key, so it is repeated when the
// connection is lost before its answer, and carried out once. A stream that is lost is resumed
// behind its last event (Last-Event-ID).
package client
