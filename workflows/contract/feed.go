package contract

import "time"

// News is told to those who watch a conversation. It is told at most once and may
// be lost: what lasts is the conversation itself, which a query returns. Draft,
// Delta or Settled is set, or none of them: then something has changed.
type News struct {
	ConversationID string `json:"conversation_id"`
	// Draft: a reply is being made. What was said under the same name is void.
	Draft *Draft `json:"draft,omitempty"`
	// Delta is a piece of it.
	Delta *Delta `json:"delta,omitempty"`
	// Settled is the conversation as it is now, and Tree its tree.
	Settled *ConversationView `json:"settled,omitempty"`
	Tree    *TreeView         `json:"tree,omitempty"`
}

// Draft is a reply of a model while it is being made. The first message of the
// reply will have its Name as Draft, and supersede all that was said under it.
type Draft struct {
	Name    string `json:"name"`
	Node    string `json:"node,omitempty"` // empty for an agent that is one node
	Model   string `json:"model,omitempty"`
	Attempt int    `json:"attempt,omitempty"` // from 1
	// Until is when the model is given up, if it does not answer and no pause between
	// attempts is longer than usual.
	Until time.Time `json:"until,omitzero"`
}

// DeltaKind says what a Delta is a piece of.
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
	Draft string    `json:"draft"`
	Kind  DeltaKind `json:"kind"`
	// Call counts the calls of the reply from 0; for DeltaCall, which names the tool,
	// and DeltaArguments.
	Call int    `json:"call,omitempty"`
	Tool string `json:"tool,omitempty"`
	Text string `json:"text,omitempty"`
}
