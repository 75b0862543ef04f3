package llm

import (
	"context"
	"encoding/json"
	"time"

	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/workflows/contract"
)

// Model answers a conversation. Implementations are safe for concurrent use.
// Every error is an *Error.
type Model interface {
	Generate(ctx context.Context, r Request) (Reply, error)
}

// Request is a request to a model.
type Request struct {
	Model  string // as configured, in any form of modelname.Parse
	System string
	// Messages is the whole conversation as recorded, notices included, with
	// all texts inline. BuildTurns selects what a model needs to see.
	Messages []contract.Message
	// Media are the media that the model is shown, by the ID of the user's message that
	// came with them, or of the message whose call returned them, if it takes them (Facts.Images). Of all others, and of
	// those in messages without an ID, it sees what the texts say.
	Media map[string][]Media
	// Tools are the offered tools, with their whole schemas.
	Tools []contract.Tool
	// MaxTokens bounds the reply, thoughts included; 0 leaves it to the provider.
	// demo:rules, which is short anyway, takes no notice of it.
	MaxTokens int
	// Schema is the JSON Schema that the text of the reply is to fit. It is passed on
	// to providers that hold their models to it; the prompt has to ask for it too.
	Schema json.RawMessage
	// Deltas is called with pieces of the reply as they arrive, in order and from one
	// goroutine. It must not block; it may be nil. The reply, which follows all deltas, is
	// complete.
	Deltas func(Delta)
	// Secrets must not be in the reply, besides the keys of the model.
	Secrets []mask.Secret
}

// Delta is a piece of a reply while it is received.
type Delta struct {
	Kind DeltaKind
	// Call counts the calls of the reply from 0; for DeltaCall and DeltaArguments.
	Call int
	// ID and Name are those of the call; for DeltaCall. The reply may have another
	// ID, where the provider gives none or the same twice.
	ID, Name string
	Text     string
}

// DeltaKind is the kind of a Delta.
type DeltaKind = contract.DeltaKind

// The kinds of deltas.
const (
	DeltaText      = contract.DeltaText
	DeltaReasoning = contract.DeltaReasoning
	DeltaCall      = contract.DeltaCall
	DeltaArguments = contract.DeltaArguments
)

// Native is a reply in its provider's own form, to be sent back to it.
type Native struct {
	Provider contract.Provider
	Model    string // that was asked, by the provider's own name
	Content  json.RawMessage
}

// Media is a file that came with a text of a tool or a user.
type Media struct {
	MIMEType string
	Name     string // may be empty
	Data     []byte
}

// Reply is a model's answer. At least one of Text and Calls is set.
type Reply struct {
	Text  string
	Calls []Call
	Model string // the model that answered, by the provider's own name
	Usage contract.Usage
	// Finish is why the model stopped: FinishStop and so on, or the provider's
	// own word for any other reason.
	Finish string
	// Native is set where the provider wants more of its reply back than texts and
	// calls. It goes into the Native of the message with that reply.
	Native *Native
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
