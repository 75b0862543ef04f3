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
//
// # The packages
//
//	workflows            the workflows: conversation, turn, nodes, approval, webhooks
//	  contract           payloads, registered names, IDs, kinds of failure: the wire
//	  decide             the rules, as pure functions
//	  wording            the texts that people and models read
//	  answer             what a person's answer to an approval means
//	  credential         sealed bearer tokens
//	  record             a conversation as numbered entries, for every reader
//	  record/document    a conversation as the REST API and its file have it
//	  record/transcript  messages and large values in the blob store
//	activities           models, tools, other agents and files, as activities
//	  llm                the models; a package below it for each provider
//	  toolbox            the client of MCP servers
//	  peer               the client of other agents, by A2A
//	  mask, outbound     secrets in what comes in; where requests may go
//	worker               a worker of these workflows and activities
//	config               the configuration file; below it what a process opens by it
//	  feed, blobstore    live events between processes; stored values
//	gateway              REST, and the one address of all front ends
//	  service            conversations without HTTP; service/backend on Temporal
//	  live               one follower of a conversation for all of its readers
//	  agui               AG-UI: events; agui/endpoint serves them
//	  a2a                A2A: task, protocol, handler
//	  client             a client of the REST API, which the command line uses
//	mcpservers           the tool servers that come with the project
//	deploy/compose       the files of the agents of compose.yaml; deploy/cluster runs them
//	deploy/chart         the Helm chart
//	deploy/packaging     checks of Dockerfile, compose files and chart, a module of its own
//	deploy/standalone    the agent in one process; e2e has the tests of whole processes
//	  cli, doctor        the commands that talk to an agent, and what one lacks
//
// # To make a change
//
// The doc.go of a package lists its files under "Where to look". These changes go through
// several packages, and their files are listed at one place:
//
//	a field of an approval, of a call or of a message   workflows/contract, "Adding a field"
//	what a workflow does, and when                      workflows, "Determinism"
//	a text that people or models read                   workflows/wording
//	an event of AG-UI                                   gateway/agui, "Adding an event"
//	a path or a member of the REST API                  gateway, "Where to look"
//	another protocol                                    gateway, "Adding a front end"
//	a key of the configuration                          config
package deploy
