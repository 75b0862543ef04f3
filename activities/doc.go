// Package activities is what touches the world: models, tools, files. Each
// concern is a struct with its dependencies; its methods are the activities.
//
//	Models   Generate, Digest    one call of a model: for a reply, with the tools on
//	                             offer, or for what stands in for old messages
//	Tools    CallTool, ListTools the MCP servers
//	Peers    Delegate            other agents (package peer speaks to them)
//	Texts    Compose, Fold       what workflows need of the blob store
//	Files    Export              the conversation file
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
// An activity fails with a kind (contract.Kind) as the type of its application
// error, by fail, which is always the outermost wrapper: wrapped once more, a
// permanent failure would be retried.
package activities
