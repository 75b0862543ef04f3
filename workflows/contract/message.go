package contract

import (
	"cmp"
	"time"

	"agent-stop-and-go/workflows/contract/filename"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Role is the sender of a message.
type Role string

// The roles, as the conversation file has them.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a conversation. A message with a ToolCall and the
// role assistant is a call that the model chose; with the role tool it is that
// call's result.
type Message struct {
	ID       string    `json:"id"`
	Role     Role      `json:"role"`
	Content  Text      `json:"content"`
	ToolCall *ToolCall `json:"tool_call,omitempty"`
	// Preface is the number of bytes at the start of a user's message that the client program
	// wrote for the model.
	Preface int `json:"preface,omitempty"`
	// Media are files that came with a user's message.
	Media []Media `json:"media,omitempty"`
	// Node is the node of the agent's tree that wrote the message.
	Node string `json:"node,omitempty"`
	// Reply groups the text and the calls of one reply of the model.
	Reply string `json:"reply,omitempty"`
	// ResultOf is the ID of the message with the call, on the message with its result.
	ResultOf string `json:"result_of,omitempty"`
	// ApprovalID is the UUID of the approval that the message asks for.
	ApprovalID string `json:"approval_id,omitempty"`
	// Reminds is the UUID of the waiting approval that a notice reminds people of.
	Reminds string `json:"reminds,omitempty"`
	// Outcome is the outcome of the turn, on its last message.
	Outcome Outcome `json:"outcome,omitempty"`
	// Approval is the audit record, on the message that marks a decision.
	Approval *ApprovalResult `json:"approval,omitempty"`
	// Notice marks a message for people that the model does not need, such as the request for
	// an approval, or a decision.
	Notice    bool      `json:"notice,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	// Model wrote the message, and Usage is the usage of the call. They are on the first
	// message of a reply, and so are Native and DraftID, the ID of the reply while it was
	// generated. On a user's message DraftID is the ClientID, and Model was chosen to answer it.
	Model   string  `json:"model,omitempty"`
	DraftID string  `json:"draft,omitempty"`
	Usage   Usage   `json:"usage,omitzero"`
	Native  *Native `json:"native,omitempty"`
	// Identity is the sender of a user's message, or who cancelled the turn, on its last
	// message.
	Identity *Identity `json:"identity,omitempty"`
	// Echo is that of the MessageSignal.
	Echo JSON `json:"echo,omitzero"`
	// Segment replaces the messages of a node. All other fields are empty then.
	Segment *Segment `json:"part,omitempty"`
}

// ClientID returns the ID that the sender of a user's message gave it, or "".
func (m Message) ClientID() string {
	if m.Role != RoleUser || m.Approval != nil || m.Notice {
		return ""
	}
	return m.DraftID
}

// Native is a reply in the form of its provider, kept if that holds more than texts and calls:
// thoughts, and signatures that the provider requires back. Other models ignore it.
type Native struct {
	Provider Provider `json:"provider"`
	Model    string   `json:"model"` // by the provider's own name
	Content  JSON     `json:"content"`
}

// Summary replaces messages when a model is called. The transcript keeps them.
type Summary struct {
	// Through is the ID of the last message that it replaces.
	Through string `json:"through"`
	// Messages is the number of messages that it replaces.
	Messages int `json:"messages"`
	// Text summarizes them. If it is empty they are omitted.
	Text Text `json:"summary,omitzero"`
}

// Segment is the messages of a composite node within the transcript around it.
type Segment struct {
	// Run is the workflow ID of the node.
	Run string `json:"run"`
	// Transcript is nil while the node runs: its reports have the messages.
	Transcript *Transcript `json:"transcript,omitempty"`
}

// ToolCall is a call in a message. Arguments is null on results.
type ToolCall struct {
	// ID is the provider's own ID of the call; it pairs calls with results.
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments JSON   `json:"arguments"`
	Result    Text   `json:"result,omitzero"`
	IsError   bool   `json:"is_error,omitempty"`
	// Media is the binary part of a result.
	Media []Media `json:"media,omitempty"`
	// Links are the files that a result refers to.
	Links []Link `json:"links,omitempty"`
	// Note is for people, about the circumstances of the call, such as an expired credential.
	Note string `json:"note,omitempty"`
	Used string `json:"used,omitempty"` // as in CallToolResult
	// Verdict is what the agent's rules say about the call.
	Verdict *verdict.Verdict `json:"verdict,omitempty"`
}

// Media is an image, a sound or a file that a tool returned. Its bytes are in the blob store,
// and its Preview is empty. Its type and name are claims of the tool server.
type Media struct {
	Blob
	MIMEType string `json:"mime_type"`
	// Name is a name or a URI, for people.
	Name string `json:"name,omitempty"`
}

// Link is a file that a tool server refers to by a URI of any scheme. It is not fetched.
type Link struct {
	URI      string `json:"uri"`
	Name     string `json:"name,omitempty"`
	MIMEType string `json:"mime_type,omitempty"`
}

// FileName returns the name of the file without its directory, or "".
func (m Media) FileName() string { return filename.Of(m.Name) }

// URI returns the name if it is a URI, or "".
func (m Media) URI() string {
	if filename.ParseURI(m.Name) == nil {
		return ""
	}
	return m.Name
}

// FileName returns the name of the file without its directory, or "".
func (l Link) FileName() string { return cmp.Or(filename.Of(l.Name), filename.Of(l.URI)) }

// Transcript is a conversation's messages: the older ones in the blob store, the rest inline.
// Package transcript loads and offloads it.
type Transcript struct {
	Head *Head     `json:"head,omitempty"`
	Tail []Message `json:"tail"`
}

// Head addresses the newest chunk of offloaded messages. Chunks are chained.
type Head struct {
	Blob
	Count int `json:"count"` // messages in this chunk and all before it
}

// Len returns the number of messages.
func (t Transcript) Len() int {
	n := 0
	if t.Head != nil {
		n = t.Head.Count
	}
	for _, m := range t.Tail {
		switch {
		case m.Segment == nil:
			n++
		case m.Segment.Transcript != nil:
			n += m.Segment.Transcript.Len()
		}
	}
	return n
}
