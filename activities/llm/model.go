package llm

import (
	"context"
	"encoding/json"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Model answers a conversation. Implementations are safe for concurrent use.
// Every error is an *Error.
type Model interface {
	Generate(ctx context.Context, r Request) (Reply, error)
}

// Request is what a model is asked.
type Request struct {
	Model  string // as configured, in any form of contract.ParseModel
	System string
	// Messages is the whole conversation as recorded, notices included, with
	// all texts inline. Exchange picks what a model needs to see.
	Messages []contract.Message
	// Media are the media that the model is shown, by the ID of the message whose
	// call returned them, if it takes them (TakesImages). Of all others, and of
	// those in messages without an ID, it sees what the texts say.
	Media map[string][]Media
	// Tools are the tools on offer, with their whole schemas.
	Tools []contract.Tool
	// MaxTokens bounds the reply, thoughts included; 0 leaves it to the provider.
	// demo:rules, which is short anyway, takes no notice of it.
	MaxTokens int
}

// Media is something that a tool returned beside its text.
type Media struct {
	MIMEType string
	Name     string // may be empty
	Data     []byte
}

// Reply is what a model answered. At least one of Text and Calls is set.
type Reply struct {
	Text  string
	Calls []Call
	Model string // the model that answered, by the provider's own name
	Usage contract.Usage
	// Finish is why the model stopped: FinishStop and so on, or the provider's
	// own word for any other reason.
	Finish string
}

// The reasons to stop.
const (
	FinishStop      = "stop"
	FinishToolCalls = "tool_calls"
	FinishLength    = "length"  // the model's limit cut the reply off
	FinishRefusal   = "refusal" // Text says what the model or its provider said
)

// Call is a tool call in a reply. IDs are distinct within the reply, and Name is
// the tool's own name wherever it was on offer.
type Call struct {
	ID, Name  string
	Arguments json.RawMessage // always a JSON object
	// Problem tells why the model's arguments were not a JSON object; the
	// Arguments are empty then.
	Problem string
}

// Error is why a Generate failed.
type Error struct {
	Kind contract.Kind
	// Message is one plain sentence, without secrets, of at most 500 bytes.
	Message string
	// RetryAfter is how long the provider asked to wait; zero if it did not.
	RetryAfter time.Duration
	// Err is the innermost cause, if there is one that may be shown. It matches
	// context.Canceled and context.DeadlineExceeded.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
