// Package deploy holds what ships the project: images, compose files, and in the
// nested module standalone the agent that needs nothing else. In conformance it
// is run against code that others wrote. Its test keeps the arrows between the
// packages as they are drawn here:
//
//	contract ← decide ← workflows ← worker → activities → contract
//	contract ← config ← worker, gateway, mains
//	gateway → contract, Temporal client, mcpservers/hosting/guard
//	mcpservers → none of ours
//	conformance → activities (a client for suites that others wrote)
//
// Package guard, which says what web pages may ask of a server, is in the room that
// imports nothing of ours, because tool servers need it as well as the gateway.
package deploy
