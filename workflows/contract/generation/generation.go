// Package generation has the wire types of a reply while it is generated. They are published in a
// contract.Event.
package generation

import "time"

// Draft is a reply of a model while it is generated. The first message of the reply has its ID
// as DraftID, and replaces everything published under it.
type Draft struct {
	ID      string `json:"name"`
	Node    string `json:"node,omitempty"` // empty for an agent that is one node
	Model   string `json:"model,omitempty"`
	Attempt int    `json:"attempt,omitempty"` // from 1
	// Until is the time at which a model that does not answer is abandoned, if pauses between
	// attempts are not longer than usual.
	Until time.Time `json:"until,omitzero"`
}

// Kind is the kind of a Delta.
type Kind string

// The kinds of deltas.
const (
	Text      Kind = "text"
	Reasoning Kind = "reasoning"
	Call      Kind = "call" // a call begins; it has no text
	Arguments Kind = "arguments"
)

// Delta is a piece of a draft. The pieces of a draft come in order.
type Delta struct {
	DraftID string `json:"draft"`
	Kind    Kind   `json:"kind"`
	// Call is the number of the call in the reply, from 0; for Call, which has a Tool, and
	// Arguments.
	Call int    `json:"call,omitempty"`
	Tool string `json:"tool,omitempty"`
	Text string `json:"text,omitempty"`
}
