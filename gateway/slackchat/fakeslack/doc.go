// Package fakeslack is a Slack for tests: the methods of the Web API and the Socket Mode that an app of
// one workspace needs, on a port of this machine.
//
//	slack.go     Slack: New, its state, and what tests ask of it
//	methods.go   the methods of the Web API
//	stream.go    the methods of streams, their tasks, and Slack's own Stop
//	limits.go    what Slack refuses: blocks, texts, metadata
//	socket.go    Socket Mode: connections, envelopes, acknowledgements, repetitions
//	people.go    what people do: write, press buttons, send dialogs, use commands
package fakeslack
