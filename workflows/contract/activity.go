package contract

import "encoding/json"

// GenerateInput asks a model for the next reply.
type GenerateInput struct {
	ConversationID string     `json:"conversation_id"`
	Model          string     `json:"model"`
	Prompt         Text       `json:"prompt,omitzero"`
	Transcript     Transcript `json:"transcript"`
}

// GenerateResult is a model's reply. At least one of Text and Calls is set.
type GenerateResult struct {
	Text  Text   `json:"text,omitzero"`
	Calls []Call `json:"calls,omitempty"`
	// Model is the model that answered, by the provider's own name.
	Model string `json:"model,omitempty"`
	Usage Usage  `json:"usage,omitzero"`
	// Finish is why the model stopped: stop, tool_calls, length, refusal.
	Finish string `json:"finish,omitempty"`
	// Folded is set when the activity moved messages to the blob store: the
	// first Count messages of the input's tail are now part of Head.
	Folded *Folded `json:"folded,omitempty"`
}

// Folded says which messages of a tail a new head has taken up.
type Folded struct {
	Head  Head `json:"head"`
	Count int  `json:"count"`
}

// Call is a tool call that a model asks for, with what is known of the tool it
// names. The arguments are final: coerced, checked, and shown to the human.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments JSON   `json:"arguments"`
	// SHA256 is the digest of the canonical arguments.
	SHA256 string `json:"arguments_sha256,omitempty"`
	Server string `json:"server,omitempty"`
	// Destructive tools wait for an approval and are never called twice.
	Destructive bool `json:"destructive,omitempty"`
	// Unknown: no such tool was on offer.
	Unknown bool `json:"unknown,omitempty"`
	// Problem is why the arguments cannot be used. The model is told.
	Problem string `json:"problem,omitempty"`
}

// CallToolInput calls a tool of an MCP server.
type CallToolInput struct {
	ConversationID string `json:"conversation_id"`
	SessionID      string `json:"session_id,omitempty"`
	Server         string `json:"server"`
	Tool           string `json:"tool"`
	Arguments      JSON   `json:"arguments"`
	// SHA256 must match the arguments, else the call is refused.
	SHA256 string `json:"arguments_sha256"`
	// IdempotencyKey is the same in every attempt at this call.
	IdempotencyKey string `json:"idempotency_key"`
	Destructive    bool   `json:"destructive,omitempty"`
}

// CallToolResult is a tool's answer. A tool that answers with an error is a
// result too, with IsError set.
type CallToolResult struct {
	Text    Text `json:"text"`
	IsError bool `json:"is_error,omitempty"`
	// AuthRequired names the server that wants the caller to log in.
	AuthRequired string `json:"auth_required,omitempty"`
	// Note tells people about the circumstances of the call.
	Note string `json:"note,omitempty"`
}

// ListToolsInput asks a worker for what the gateway must know of it.
type ListToolsInput struct{}

// CatalogueResult is what a worker offers: the tools, and what is missing.
// Body holds a Catalogue; with many tools it lives in the blob store.
type CatalogueResult struct {
	Body JSON `json:"body"`
}

// Catalogue is what a worker offers.
type Catalogue struct {
	Tools   []Tool        `json:"tools"`
	Servers []ServerState `json:"servers"`
	Model   ModelState    `json:"model"`
}

// Tool describes a tool, the "Tool" of the REST API.
type Tool struct {
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	InputSchema     json.RawMessage `json:"inputSchema"`
	DestructiveHint bool            `json:"destructiveHint,omitempty"`
	Server          string          `json:"server,omitempty"`
}

// ServerState tells whether a tool server answers, and if not, why.
type ServerState struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	Error string `json:"error,omitempty"`
	Tools int    `json:"tools"`
}

// ModelState tells what model answers, and what its users should know.
type ModelState struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
}

// ExportInput writes a conversation to its file.
type ExportInput struct {
	Conversation ConversationView `json:"conversation"`
}

// ExportResult tells what was written. Skipped means that a later version of
// the conversation was there already.
type ExportResult struct {
	Bytes   int64 `json:"bytes,omitempty"`
	Skipped bool  `json:"skipped,omitempty"`
}
