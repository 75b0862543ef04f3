// Package floor serves turns of the agent's shape without an agent: the least that a turn can
// cost on the embedded server. Each turn is one workflow of one model call, perhaps a decision,
// a tool call and another model call. The model is asked over HTTP; the tool does nothing.
// Its worker has the settings that the SDK gives it.
//
//	POST /turns                    runs a turn
//	POST /approvals/{id}           starts a turn, until it waits for a decision
//	POST /approvals/{id}/decision  decides, and waits for the end of the turn
package floor
