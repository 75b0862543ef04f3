// Package activities is what touches the world: models, tools, files. Each
// concern is a struct with its dependencies; its methods are the activities.
//
//	Models   Generate, Summarize one call of a model: for a reply, with the tools on
//	                             offer, or for what stands in for old messages
//	Tools    CallTool, ListTools the MCP servers
//	Peers    Delegate            other agents (package peer speaks to them)
//	Texts    Compose, Fold       what workflows need of the blob store
//	Files    Export              the conversation file
//
//	Notifications  Notify        webhooks of tasks
//
// Sampler is none of them: it answers MCP servers that ask the agent's model,
// while CallTool waits for them.
//
// Feed is where Models, Tools and Files tell those who watch a conversation what is
// new. Nothing depends on anybody hearing it.
//
// Every activity may run more than once: Temporal repeats it when a worker dies
// before it has reported. They are safe to repeat, but for a destructive tool
// call, which the workflow lets run once (see package toolbox for how a lost
// answer is told from a call that never went out). A delegation is repeated with
// the ID of its message, by which the other agent knows it again.
//
// # Notifications
//
// A notification is a POST with the headers
//
//	Content-Type              application/a2a+json, or application/json by version 0.3
//	A2A-Version               1.0 or 0.3
//	Authorization             SCHEME CREDENTIALS, if the webhook was set with them
//	X-A2A-Notification-Token  its token, if it has one
//	X-A2A-Notification-Id     a UUID, the same in every attempt
//	X-A2A-Signature           t=TIME,v1=SIGNATURE
//
// Its body is a status update (1.0), the whole task in a StreamResponse (1.0, final
// states), or the task itself (0.3). The signature is the HMAC-SHA256 in hexadecimal of
// TIME, a dot and the body, under the token, or under SigningKey (push.signing_key of the
// configuration) for webhooks without one; without either there is none. TIME is in
// seconds since 1970, of this attempt. A receiver computes the same, compares in constant
// time, refuses what is some minutes old, and remembers the IDs it has seen: a
// notification whose answer was lost comes again.
//
// # Failures
//
// An activity fails with a kind (contract.Kind) as the type of its application
// error, by fail, which is always the outermost wrapper: wrapped once more, a
// permanent failure would be retried.
package activities
