package llm

import (
	"context"
	"encoding/json"
	"time"

	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/contract/toolchoice"
)

// Model answers a conversation. Implementations are safe for concurrent use.
// Every error is an *Error.
type Model interface {
	Generate(ctx context.Context, r Request) (Reply, error)
}

// Request is a request to a model.
type Request struct {
	Model  string // as configured, in a form that modelname.Parse accepts
	System string
	// Messages is the whole conversation as recorded, notices included, with
	// all texts inline. BuildTurns selects what a model needs to see.
	Messages []contract.Message
	// Media are the media to show a model that takes them (Facts.Takes), by the ID of
	// the user's message that they came with, or of the message with the call that returned
	// them. PDFs are of users only. Of other media the model sees only their description in the texts.
	Media map[string][]Media
	// Tools are the offered tools, with their whole schemas.
	Tools []contract.Tool
	// Choice is what is demanded of the calls of the reply. The tools in Choice.Call are on offer.
	// A provider that cannot be told so is asked in the prompt. A reply may still be otherwise.
	Choice toolchoice.Choice
	// MaxTokens bounds the reply, thoughts included; 0 leaves it to the provider.
	// demo:rules ignores it.
	MaxTokens int
	// Schema is the JSON Schema for the text of the reply. It is passed on to providers
	// that enforce schemas; the prompt has to ask for it too.
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
	// Call is the number of the call in the reply, from 0; for DeltaCall and DeltaArguments.
	Call int
	// ID and Name identify the call; for DeltaCall. The reply has another ID if the
	// provider gives none or repeats one.
	ID, Name string
	Text     string
}

// DeltaKind is the kind of a Delta.
type DeltaKind = generation.Kind

// The kinds of deltas.
const (
	DeltaText      = generation.Text
	DeltaReasoning = generation.Reasoning
	DeltaCall      = generation.Call
	DeltaArguments = generation.Arguments
)

// Native is a reply in its provider's own form, to be sent back to it.
type Native struct {
	Provider contract.Provider
	Model    string // the model that was asked, by the provider's own name
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
	// Native is set if the provider wants more of its reply back than texts and calls.
	// It is stored in the Native of the reply's message.
	Native *Native
}

// The reasons to stop.
const (
	FinishStop      = "stop"
	FinishToolCalls = "tool_calls"
	FinishLength    = "length"  // the model's limit cut the reply off
	FinishRefusal   = "refusal" // Text has the words of the model or its provider
)

// Call is a tool call in a reply. IDs are distinct within the reply. Name is the tool's own
// name if the tool was on offer.
type Call struct {
	ID, Name  string
	Arguments json.RawMessage // always a JSON object
	// Problem says why the model's arguments are not a JSON object. Arguments is {}
	// then.
	Problem string
}

// Error is the error of a failed Generate.
type Error struct {
	Kind contract.Kind
	// Message is one plain sentence, without secrets, of at most 500 bytes.
	Message string
	// RetryAfter is how long the provider asked to wait; zero if it did not.
	RetryAfter time.Duration
	// Err is the innermost cause if it may be shown, else nil. It matches
	// context.Canceled and context.DeadlineExceeded.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
