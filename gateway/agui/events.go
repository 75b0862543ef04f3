package agui

import "encoding/json"

// ProtocolVersion is the version of AG-UI of the events.
const ProtocolVersion = "1.0"

type Type string

// The types of events that a Stream sends.
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

// Namespace is the key of our metadata and the prefix of our names.
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

// Metadata is attached to a message or an interrupt, under Namespace.
type Metadata map[string]any

// RunStarted begins a run. For clients older than 1.0 it has no version.
type RunStarted struct {
	Type            Type   `json:"type"`
	ThreadID        string `json:"threadId"`
	RunID           string `json:"runId"`
	ProtocolVersion string `json:"protocolVersion,omitempty"`
}

// RunFinished ends a run. Clients older than 1.0 get only outcomes that they know.
type RunFinished struct {
	Type     Type    `json:"type"`
	ThreadID string  `json:"threadId"`
	RunID    string  `json:"runId"`
	Outcome  Outcome `json:"outcome,omitzero"`
}

// RunError ends a run, or refuses one that was not begun.
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

// TextStart begins a text message.
type TextStart struct {
	Type      Type   `json:"type"`
	MessageID string `json:"messageId"`
	Role      string `json:"role"`
	Name      string `json:"name,omitempty"`
}

// Piece is a piece of a text or of thoughts.
type Piece struct {
	Type      Type   `json:"type"`
	MessageID string `json:"messageId"`
	Delta     string `json:"delta"`
}

// Mark begins or ends a text or thoughts.
type Mark struct {
	Type      Type   `json:"type"`
	MessageID string `json:"messageId"`
	Role      string `json:"role,omitempty"` // set in REASONING_MESSAGE_START
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

// CallResult is the result of a call.
type CallResult struct {
	Type       Type     `json:"type"`
	MessageID  string   `json:"messageId"`
	ToolCallID string   `json:"toolCallId"`
	Content    string   `json:"content"`
	Role       string   `json:"role"`
	Metadata   Metadata `json:"metadata,omitempty"`
}

// StateSnapshot is the whole state: the front end's members, and the agent's SharedState
// under Namespace.
type StateSnapshot struct {
	Type     Type                       `json:"type"`
	Snapshot map[string]json.RawMessage `json:"snapshot"`
}

// StateDelta is a change of the state.
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

// MessagesSnapshot contains all messages.
type MessagesSnapshot struct {
	Type     Type      `json:"type"`
	Messages []Message `json:"messages"`
}

// Message is a message of a snapshot. Content is nil only for an assistant's message without
// text.
type Message struct {
	ID         string     `json:"id"`
	Role       string     `json:"role"`
	Content    *string    `json:"content,omitempty"`
	Name       string     `json:"name,omitempty"`
	ToolCalls  []ToolCall `json:"toolCalls,omitempty"`
	ToolCallID string     `json:"toolCallId,omitempty"`
	Metadata   Metadata   `json:"metadata,omitempty"`
}

// ToolCall is a call in a Message. Its type is "function".
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

// Custom is an event of our own.
type Custom struct {
	Type  Type   `json:"type"`
	Name  string `json:"name"`
	Value any    `json:"value"`
}
