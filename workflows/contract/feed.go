package contract

import "time"

// Event is published to the subscribers of a conversation, at most once; it may be lost. The
// durable state is the conversation itself, which a query returns. Either Draft, Delta or
// Settled is set, or none: then something has changed.
type Event struct {
	ConversationID string `json:"conversation_id"`
	// Draft starts a reply. Earlier deltas with the same ID are void. Transcript is what the
	// conversation consists of then; it is unknown in other processes and in trees.
	Draft      *Draft      `json:"draft,omitempty"`
	Transcript *Transcript `json:"-"`
	// Delta is a piece of a reply.
	Delta *Delta `json:"delta,omitempty"`
	// Settled is the current state of the conversation, and Tree its tree.
	Settled *ConversationView `json:"settled,omitempty"`
	Tree    *TreeView         `json:"tree,omitempty"`
}

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

// DeltaKind is the kind of a Delta.
type DeltaKind string

// The kinds of deltas.
const (
	DeltaText      DeltaKind = "text"
	DeltaReasoning DeltaKind = "reasoning"
	DeltaCall      DeltaKind = "call" // a call begins; it has no text
	DeltaArguments DeltaKind = "arguments"
)

// Delta is a piece of a draft. The pieces of a draft come in order.
type Delta struct {
	DraftID string    `json:"draft"`
	Kind    DeltaKind `json:"kind"`
	// Call is the number of the call in the reply, from 0; for DeltaCall, which has a Tool, and
	// DeltaArguments.
	Call int    `json:"call,omitempty"`
	Tool string `json:"tool,omitempty"`
	Text string `json:"text,omitempty"`
}
