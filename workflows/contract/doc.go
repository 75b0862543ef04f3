// Package contract defines everything that crosses a process boundary: the payloads of
// workflows, signals, queries, updates and activities, the names they are registered under, the
// identifiers of workflows, and the kinds of failure.
//
// It imports the standard library only, so every other package may import it.
// Registered names are literals in names.go: renaming a Go identifier never
// renames the wire, and a recorded history stays replayable.
//
// # Values outside history
//
// Temporal keeps every payload in a workflow's history, and reads it again on
// every replay. Text and JSON therefore carry either the value itself (up to
// InlineLimit bytes) or a Blob, the address of the value in a content-addressed
// store. Package transcript puts values there and resolves them again; a
// conversation's older messages live there too, so a run's history stays small
// however long the conversation gets.
//
// # Changing a type
//
// testdata holds the JSON of one value of each type. A change that breaks one
// of these files breaks conversations that are waiting right now: add optional
// fields, never rename or remove. `make golden` rewrites the files.
//
// # Adding a field
//
// A new field is optional (omitempty or omitzero) and is set in the samples of
// samples_test.go and its neighbours. Histories that were recorded before have the
// zero value. A change that sends the same commands needs no version marker. A field
// of Message needs care: the length of a transcript determines when messages are
// offloaded, so a field that workflows set by themselves is left out of that length
// (withoutCoordinates in workflows/journal.go).
//
// A field of an approval takes this path. Files that are not listed need no change.
//
//	activities/toolbox/tool.go              the data of a tool (Tool)
//	activities/models.go                    Models.call copies it to Call
//	activity.go                             Call
//	approval.go                             ApprovalInput, PendingApproval and Pending, which
//	                                        copies; Origin, if agents pass it on
//	../ask.go, ../question.go               make an ApprovalInput: for a call,
//	                                        and for the question of a tool server
//	card.go, ../wording/card.go             the data in lists: GET /approvals embeds Card
//	../wording/details.go                   the Web UI
//	task.go, gateway/a2a/task/ask.go        ApprovalRequest, for A2A clients
//	activities/peer/approval_request.go,    the same, read from another agent, and
//	activities/peers.go                     converted to an Origin
//	gateway/agui/outcome.go                 the interrupt (subject)
//	gateway/agui/state.go                   the state of clients, with a PendingApproval of its own
//	gateway/openapi.yaml                    PendingApproval, WaitingApproval, Origin
//
// The REST API, the exported file and pending_approvals use PendingApproval itself; package
// document only loads stored values.
//
// # Where to look
//
//	names.go         registered names of workflows, signals, queries, updates, activities
//	ids.go           identifiers of workflows; UUIDs
//	kinds.go         kinds of failure
//	text.go          Text, JSON and Blob
//	message.go       messages and transcripts
//	conversation.go  a conversation: input, signals, queries, results
//	approval.go      approvals; reason.go why they ask; revision.go calls approved with changes; card.go their data in lists; binding.go the target of a grant, package difference its change
//	run.go           nodes that run: inputs, results, reports; node.go nodes as configured
//	agent.go         an agent as configured; limits.go its limits and their consumption
//	activity.go      inputs and results of activities, and the calls of a reply; package ticket
//	                 calls that a local activity starts, package toolchoice what a sender demands
//	                 of the calls
//	tool.go          tools; catalogue.go resources and prompts
//	model.go         providers and models; package modelname has their names, modality what they take
//	task.go          states and requests of A2A tasks
//	delegation       a package: other agents, and the dialogues with them
//	push.go          webhooks of tasks; package network restricts their addresses
//	feed.go          live events; package generation has the replies in them
//	identity.go      callers and their scopes; package key has the texts that stand for them
//	redact           a package: addresses and commands without secrets
package contract

//go:generate go test . -run TestWireFormat -update
