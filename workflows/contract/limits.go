package contract

import "time"

// Limits say when a conversation pauses to ask whether to continue. They are checked before
// each model call; a running call is never cut off.
type Limits struct {
	Turn         Limit `json:"turn,omitzero"`
	Conversation Limit `json:"conversation,omitzero"`
}

// Limit bounds usage. A zero field sets no bound.
type Limit struct {
	// Tokens counts input and output tokens.
	Tokens int64 `json:"tokens,omitempty"`
	// Cost is in the unit of Usage.Cost.
	Cost int64 `json:"cost_nanos,omitempty"`
	// Calls counts answered calls of models.
	Calls int64 `json:"calls,omitempty"`
	// Time is working time, without waiting for people.
	Time time.Duration `json:"time,omitempty"`
}

// Add returns the sum.
func (l Limits) Add(m Limits) Limits {
	return Limits{Turn: l.Turn.Add(m.Turn), Conversation: l.Conversation.Add(m.Conversation)}
}

// Add returns the sum.
func (l Limit) Add(m Limit) Limit {
	return Limit{Tokens: l.Tokens + m.Tokens, Cost: l.Cost + m.Cost, Calls: l.Calls + m.Calls, Time: l.Time + m.Time}
}

// Consumption is the usage and the grants so far, in the turn and in the conversation.
type Consumption struct {
	Turn         Used `json:"turn,omitzero"`
	Conversation Used `json:"conversation,omitzero"`
}

// Used is an amount of usage, and the grants beyond the limits.
type Used struct {
	Usage   Usage         `json:"usage,omitzero"`
	Time    time.Duration `json:"time,omitempty"`
	Granted Limit         `json:"granted,omitzero"`
}

// Bounds of one conversation's input, from callers and from models. The gateway refuses what
// exceeds them before anything is written; the workflow refuses it too.
const (
	MaxQueued       = 64        // messages that wait for a turn
	MaxQueuedBytes  = 512 << 10 // their size in history
	MaxMessage      = 64 << 10  // bytes of a message in history, without long texts and files
	MaxOpenRequests = 64        // requests that have no answer yet, besides queued messages
	MaxToken        = 16 << 10  // bytes of a bearer token
	MaxParts        = 100       // parts of a message
	MaxCalls        = 128       // calls in one reply of a model
	MaxToolName     = 128       // bytes of the name of a called tool

	// MaxSealed is the size of a sealed token, which is longer than the token.
	MaxSealed = 2 * MaxToken
)
