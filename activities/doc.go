// Package activities is the code with side effects: models, tools, files. Each concern is a
// struct with its dependencies; its methods are the activities.
//
//	Models         Generate, Summarize  calls a model: for a reply, with the offered tools, or
//	                                    for a summary of old messages
//	Tools          CallTool, ListTools  the MCP servers
//	Peers          Delegate             other agents (package peer is the client)
//	Texts          Compose, Offload, ReadAnswer
//	                                    the blob store for workflows
//	Files          Export               the conversation file
//	Notifications  Notify               webhooks of tasks
//
// The files:
//
//	models.go      Generate: model_request.go the request, offer.go its tools,
//	               package window and package shorten its size, package form replies with a schema,
//	               package rules what the rules say of its calls,
//	               allowance.go its time; summaries.go Summarize
//	tools.go       CallTool: binding.go the approved server and tool, claims.go at most once,
//	               elicitation.go and sampler.go the server's own requests;
//	               catalogue.go ListTools; own.go tools of the agent itself (package local)
//	peers.go       Delegate
//	texts.go       Compose, Offload, ReadAnswer
//	files.go       Export
//	rates.go       calls that a rate limit holds (package rates); audit.go those that are recorded
//	               (package auditing)
//	notify.go      Notify; notification.go its headers and body, package webhook sends them
//	fail.go        kinds of failure as errors of Temporal, and heartbeats
//	feed.go        live events; media.go images and files of results (package attachment shows
//	               files to models); bearer.go tokens of calls
//	               (package bearer)
//
// Models.call adds the data about its tool to a call of a model's reply (contract.Call).
//
// Sampler is not an activity: it answers MCP servers that ask the agent's model while CallTool
// waits for them. So does Elicitation, for questions to people.
//
// Models, Tools and Files publish events to a Feed. Nothing depends on their delivery.
//
// Every activity may run more than once: Temporal repeats it if a worker dies before it has
// reported. They are safe to repeat, except for destructive calls, which the workflow attempts
// once (package toolbox says how a lost answer differs from a call that was not sent). A
// delegation is repeated with the same message ID, by which the other agent deduplicates.
//
// # Notifications
//
// A notification is a POST with the headers
//
//	Content-Type              application/a2a+json, or application/json in version 0.3
//	A2A-Version               1.0 or 0.3
//	Authorization             SCHEME CREDENTIALS, if the webhook was set with them
//	X-A2A-Notification-Token  its token, if it has one
//	X-A2A-Notification-Id     a UUID, the same in every attempt
//	X-A2A-Signature           t=TIME,v1=SIGNATURE
//
// Its body is a status update (1.0), the whole task in a StreamResponse (1.0, final states), or
// the task itself (0.3). The signature is the hexadecimal HMAC-SHA256 of TIME, a dot and the
// body. Its key is the webhook's token, or SigningKey (push.signing_key of the configuration)
// for webhooks without one; without either there is no signature. TIME is the time of the
// attempt in seconds since 1970. A receiver computes the same, compares in constant time,
// rejects old times, and remembers the IDs it has seen: a notification whose answer was lost
// is sent again.
//
// # Failures
//
// An activity fails with a kind (contract.Kind) as the type of its application error. The error
// is made by fail, which must be the outermost wrapper: wrapped once more, a permanent failure
// would be retried.
package activities
