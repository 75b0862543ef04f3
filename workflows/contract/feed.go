package contract

import "agent-stop-and-go/workflows/contract/generation"

// Event is published to the subscribers of a conversation, at most once; it may be lost. The
// durable state is the conversation itself, which a query returns. Either Draft, Delta or
// Settled is set, or none: then something has changed.
type Event struct {
	ConversationID string `json:"conversation_id"`
	// Draft starts a reply. Earlier deltas with the same ID are void. Transcript is what the
	// conversation consists of then; it is unknown in other processes and in trees.
	Draft      *generation.Draft `json:"draft,omitempty"`
	Transcript *Transcript       `json:"-"`
	// Delta is a piece of a reply.
	Delta *generation.Delta `json:"delta,omitempty"`
	// Settled is the current state of the conversation, and Tree its tree.
	Settled *ConversationView `json:"settled,omitempty"`
	Tree    *TreeView         `json:"tree,omitempty"`
}
