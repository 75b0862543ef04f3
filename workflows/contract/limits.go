package contract

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Limits say when a conversation stops to ask whether to go on. They are looked
// at before each call of a model; what is under way is never cut off.
type Limits struct {
	Turn         Limit `json:"turn,omitzero"`
	Conversation Limit `json:"conversation,omitzero"`
}

// Limit is how much may be spent. A field that is zero sets no limit.
type Limit struct {
	// Tokens counts those that went in and came out.
	Tokens int64 `json:"tokens,omitempty"`
	// Cost is in the unit of Usage.Cost.
	Cost int64 `json:"cost_nanos,omitempty"`
	// Calls counts answered calls of models.
	Calls int64 `json:"calls,omitempty"`
	// Time is time of work. Waiting for people does not count.
	Time time.Duration `json:"time,omitempty"`
}

// Grants is what people have granted beyond limits.
type Grants = Limits

// Add returns the sum.
func (l Limits) Add(m Limits) Limits {
	return Limits{Turn: l.Turn.Add(m.Turn), Conversation: l.Conversation.Add(m.Conversation)}
}

// Add returns the sum.
func (l Limit) Add(m Limit) Limit {
	return Limit{Tokens: l.Tokens + m.Tokens, Cost: l.Cost + m.Cost, Calls: l.Calls + m.Calls, Time: l.Time + m.Time}
}

// Spent is what has been spent, and what people have granted beyond the limits.
type Spent struct {
	Turn         Outlay `json:"turn,omitzero"`
	Conversation Outlay `json:"conversation,omitzero"`
}

// Outlay is one side of Spent.
type Outlay struct {
	Usage   Usage         `json:"usage,omitzero"`
	Time    time.Duration `json:"time,omitempty"`
	Granted Limit         `json:"granted,omitzero"`
}

// Amount writes a Cost exactly, in the currency that prices are given in.
func Amount(cost int64) string {
	text := big.NewRat(cost, 1e9).FloatString(9)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// Bounds of what one conversation takes, from callers and from models. The gateway
// refuses what is beyond them before anything is written; the workflow refuses it too.
const (
	MaxQueued       = 64        // messages that wait for their turn
	MaxQueuedBytes  = 512 << 10 // of them together, as they are in history
	MaxMessage      = 64 << 10  // bytes of a message as it is in history: long texts and files are not
	MaxOpenRequests = 64        // requests that have no answer yet, besides queued messages
	MaxToken        = 16 << 10  // bytes of a bearer token
	MaxParts        = 100       // parts of a message
	MaxCalls        = 128       // calls in one reply of a model
	MaxToolName     = 128       // bytes of the name of a called tool

	// MaxSealed are the bytes of a sealed token, which is longer than the token.
	MaxSealed = 2 * MaxToken
)

// Overrun says why the calls of a reply are more than one reply may ask for, or "".
func Overrun(names []string) string {
	if len(names) > MaxCalls {
		return fmt.Sprintf("the reply asks for %d calls: the limit is %d", len(names), MaxCalls)
	}
	for _, name := range names {
		if len(name) > MaxToolName {
			return fmt.Sprintf("the name of a called tool has %d bytes: the limit is %d", len(name), MaxToolName)
		}
	}
	return ""
}
