// Package answer reads what a human says to an approval.
//
// People answer in many shapes: the REST API's {"approved":true}, the older
// {"action":"approve"} and {"answer":"yes"}, or whatever they typed after
// `temporal workflow signal --name decide --input`. Parse reads all of them, for
// the gateway and for the Approval workflow alike, so that both take the same
// words for the same decision.
//
// Nothing is guessed: what is neither a yes nor a no, and what is both, is an
// error that says what is accepted, and the approval stays pending.
//
// A question of a tool server is an approval too, but asks for content: ParseQuestion
// and ParseText read that, by the question's schema, for the same places and for
// conversations, where a message is the answer.
//
// Everything here is deterministic and safe to call from a workflow.
package answer
