// Package ticket has the local activity that starts a call which may be handed over to a regular one
// (contract.ExecutionAuto).
package ticket

import "agent-stop-and-go/workflows/contract"

// prefix precedes the name of an activity in that of the local activity which starts its call:
// start_generate, start_digest, start_call_tool.
const prefix = "start_"

// Start starts a call that may be handed over (ExecutionAuto).
type Start[In any] struct {
	Input In `json:"input"`
	// Task tells the workflow tasks of a run apart: the worker limits how long one is held.
	Task int `json:"task,omitempty"`
	// Once is a call that must not be repeated.
	Once *Once `json:"once,omitempty"`
}

// Once is a call that must not be repeated. It is in the marker too, because the input is not.
type Once struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
}

// Started is what became of the call while its workflow task was held: Result or Ticket is set.
type Started[Out any] struct {
	Result *Out    `json:"result,omitempty"`
	Ticket *Ticket `json:"ticket,omitempty"`
	// Once is that of Start, if the call has a result.
	Once *Once `json:"once,omitempty"`
}

// Ticket is a call that runs on. An activity with its ID on its Queue, which only the worker
// polls that makes the call, joins it. The zero Ticket is a call that was not started.
type Ticket struct {
	Queue string `json:"queue,omitempty"`
	ID    string `json:"id,omitempty"`
}

// StartOf is the local activity that starts the call of an activity.
func StartOf[In, Out any](a contract.Activity[In, Out]) contract.Activity[Start[In], Started[Out]] {
	return contract.Activity[Start[In], Started[Out]]{Name: prefix + a.Name}
}
