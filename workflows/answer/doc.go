// Package answer parses people's answers to approvals.
//
// People answer in many shapes: the REST API's {"approved":true}, the older
// {"action":"approve"} and {"answer":"yes"}, or whatever they typed after `temporal workflow
// signal --name decide --input`. Both the gateway and the Approval workflow use Parse, so that
// the same words mean the same decision in both.
//
// Nothing is guessed: an answer that neither approves nor rejects, or does both, is an error
// that describes the accepted answers, and the approval stays pending.
//
// A question of a tool server is an approval that asks for content: ParseQuestion parses that
// by the question's schema for the API and the signal, ParseText for a message of the
// conversation. It has its own reader of JSON Schema, because an upgraded library could parse
// differently, and a recorded history must replay with the same result.
//
// Front ends that ask for the fields of a question one by one use Fields, Field.Read and Filled.
//
// Everything here is deterministic and safe to call from a workflow.
package answer
