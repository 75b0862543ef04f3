package agui

import "encoding/json"

// ProtocolVersion is the version of AG-UI that the events are of.
const ProtocolVersion = "1.0"

// Type is the type of an event.
type Type string

// The types of events that a Stream emits.
const (
	TypeRunStarted       Type = "RUN_STARTED"
	TypeRunFinished      Type = "RUN_FINISHED"
	TypeRunError         Type = "RUN_ERROR"
	TypeStepStarted      Type = "STEP_STARTED"
	TypeStepFinished     Type = "STEP_FINISHED"
	TypeTextStart        Type = "TEXT_MESSAGE_START"
	TypeTextContent      Type = "TEXT_MESSAGE_CONTENT"
	TypeTextEnd          Type = "TEXT_MESSAGE_END"
	TypeCallStart        Type = "TOOL_CALL_START"
	TypeCallArgs         Type = "TOOL_CALL_ARGS"
	TypeCallEnd          Type = "TOOL_CALL_END"
	TypeCallResult       Type = "TOOL_CALL_RESULT"
	TypeReasoningStart   Type = "REASONING_START"
	TypeReasoningEnd     Type = "REASONING_END"
	TypeThoughtStart     Type = "REASONING_MESSAGE_START"
	TypeThoughtContent   Type = "REASONING_MESSAGE_CONTENT"
	TypeThoughtEnd       Type = "REASONING_MESSAGE_END"
	TypeStateSnapshot    Type = "STATE_SNAPSHOT"
	TypeStateDelta       Type = "STATE_DELTA"
	TypeMessagesSnapshot Type = "MESSAGES_SNAPSHOT"
	TypeCustom           Type = "CUSTOM"
)

// The roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
	RoleReasoning = "reasoning"
)

// Namespace is the key of all metadata that is ours, and the prefix of names.
const Namespace = "agent-stop-and-go"

// The names of custom events. Package endpoint sends the last three, which are about the
// connection and the request.
const (
	CustomNotice    = Namespace + ".notice"    // the value is a Notice
	CustomDecision  = Namespace + ".decision"  // the value is a Decision
	CustomAttempt   = Namespace + ".attempt"   // the value is an Attempt
	CustomReconnect = Namespace + ".reconnect" // without a value: open a new stream, the work goes on
	CustomRefused   = Namespace + ".refused"   // the value names the message that was not taken
	CustomSkipped   = Namespace + ".skipped"   // the value lists the types of unused message parts
)

// Metadata is what goes with a message or an interrupt, under Namespace.
type Metadata map[string]any

// RunStarted begins a run. It has no version for clients older than 1.0.
type RunStarted struct {
	Type            Type   `json:"type"`
	ThreadID        string `json:"threadId"`
	RunID           string `json:"runId"`
	ProtocolVersion string `json:"protocolVersion,omitempty"`
}

// RunFinished ends a run in order. Clients that are older than 1.0 do not get an
// outcome that they do not know.
type RunFinished struct {
	Type     Type    `json:"type"`
	ThreadID string  `json:"threadId"`
	RunID    string  `json:"runId"`
	Outcome  Outcome `json:"outcome,omitzero"`
}

// RunError ends a run, or stands for one that did not begin.
type RunError struct {
	Type    Type   `json:"type"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
}

// Step begins or ends the work of a node.
type Step struct {
	Type     Type   `json:"type"`
	StepName string `json:"stepName"`
}

// TextStart begins a text.
type TextStart struct {
	Type      Type   `json:"type"`
	MessageID string `json:"messageId"`
	Role      string `json:"role"`
	Name      string `json:"name,omitempty"`
}

// Piece is a piece of a text or of thoughts. In the events that end something it
// has no Delta.
type Piece struct {
	Type      Type   `json:"type"`
	MessageID string `json:"messageId"`
	Delta     string `json:"delta"`
}

// Mark begins or ends what has the ID of a message.
type Mark struct {
	Type      Type   `json:"type"`
	MessageID string `json:"messageId"`
	Role      string `json:"role,omitempty"` // of REASONING_MESSAGE_START
}

// CallStart begins a call.
type CallStart struct {
	Type            Type   `json:"type"`
	ToolCallID      string `json:"toolCallId"`
	ToolCallName    string `json:"toolCallName"`
	ParentMessageID string `json:"parentMessageId"`
}

// CallArgs is a piece of the arguments of a call.
type CallArgs struct {
	Type       Type   `json:"type"`
	ToolCallID string `json:"toolCallId"`
	Delta      string `json:"delta"`
}

// CallEnd ends the arguments of a call.
type CallEnd struct {
	Type       Type   `json:"type"`
	ToolCallID string `json:"toolCallId"`
}

// CallResult is what a call came to.
type CallResult struct {
	Type       Type     `json:"type"`
	MessageID  string   `json:"messageId"`
	ToolCallID string   `json:"toolCallId"`
	Content    string   `json:"content"`
	Role       string   `json:"role"`
	Metadata   Metadata `json:"metadata,omitempty"`
}

// StateSnapshot is the whole state: that of the front end, with the agent's own, a
// SharedState, under Namespace.
type StateSnapshot struct {
	Type     Type                       `json:"type"`
	Snapshot map[string]json.RawMessage `json:"snapshot"`
}

// StateDelta is what has changed in the state.
type StateDelta struct {
	Type  Type    `json:"type"`
	Delta []Patch `json:"delta"`
}

// Patch is an operation of a JSON patch.
type Patch struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// MessagesSnapshot is all messages.
type MessagesSnapshot struct {
	Type     Type      `json:"type"`
	Messages []Message `json:"messages"`
}

// Message is a message of a snapshot. Content is nil only for an assistant that
// said nothing.
type Message struct {
	ID         string     `json:"id"`
	Role       string     `json:"role"`
	Content    *string    `json:"content,omitempty"`
	Name       string     `json:"name,omitempty"`
	ToolCalls  []ToolCall `json:"toolCalls,omitempty"`
	ToolCallID string     `json:"toolCallId,omitempty"`
	Metadata   Metadata   `json:"metadata,omitempty"`
}

// ToolCall is a call in a Message; its type is "function".
type ToolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is the tool and the arguments of a call.
type Function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Custom is an event of ours.
type Custom struct {
	Type  Type   `json:"type"`
	Name  string `json:"name"`
	Value any    `json:"value"`
}
