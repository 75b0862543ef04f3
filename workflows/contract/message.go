package contract

import (
	"cmp"
	"net/url"
	"path"
	"strings"
	"time"
)

// Role says who a message is from.
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
	// Preface is how many bytes at the beginning of a user's message their program
	// wrote for the model. People did not write them.
	Preface int `json:"preface,omitempty"`
	// Media are files that came with a user's message.
	Media []Media `json:"media,omitempty"`
	// Node is the node of the agent's tree that wrote the message.
	Node string `json:"node,omitempty"`
	// Reply groups what came in one reply of the model: its text and its calls.
	Reply string `json:"reply,omitempty"`
	// ResultOf is the ID of the message with the call, on the message with its result.
	ResultOf string `json:"result_of,omitempty"`
	// ApprovalID is the UUID of the approval that the message asks for.
	ApprovalID string `json:"approval_id,omitempty"`
	// Outcome is how the turn ended, on the message that the conversation ends it with.
	Outcome Outcome `json:"outcome,omitempty"`
	// Approval is the audit record, on the message that marks a decision.
	Approval *ApprovalResult `json:"approval,omitempty"`
	// Notice marks a message that tells people something and that the model
	// does not need: the request for an approval, the decision.
	Notice    bool      `json:"notice,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	// Model is the model that wrote the message, and Usage what the call took. They
	// are on the first message of a reply. So are Native, and Draft, by which name the
	// reply was known while it was being made.
	Model  string  `json:"model,omitempty"`
	Draft  string  `json:"draft,omitempty"`
	Usage  Usage   `json:"usage,omitzero"`
	Native *Native `json:"native,omitempty"`
	// Part, when it is set, stands for the messages of a node. All else is
	// empty then.
	Part *Part `json:"part,omitempty"`
}

// Native is a reply in the form of the provider that gave it, kept where that
// holds more than texts and calls: thoughts, and signatures that the provider
// wants back. It means nothing to any other model.
type Native struct {
	Provider Provider `json:"provider"`
	Model    string   `json:"model"` // by the provider's own name
	Content  JSON     `json:"content"`
}

// Digest stands in for messages when a model is asked. The transcript keeps them.
type Digest struct {
	// Through is the ID of the last message that it stands for.
	Through string `json:"through"`
	// Messages is how many it stands for.
	Messages int `json:"messages"`
	// Summary is what they said. Without one they are left out.
	Summary Text `json:"summary,omitzero"`
}

// Part is the messages of a composite node within those around it.
type Part struct {
	// Run is the workflow ID of the node.
	Run string `json:"run"`
	// Transcript is nil while the node runs: its reports have it.
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
	// Note tells people about the circumstances of the call, such as an
	// expired credential.
	Note string `json:"note,omitempty"`
}

// Media is an image, a sound or a file that a tool returned. Its bytes are in
// the blob store, and its Preview is empty. What it claims to be is the tool
// server's word.
type Media struct {
	Blob
	MIMEType string `json:"mime_type"`
	// Name is a name or a URI, for people.
	Name string `json:"name,omitempty"`
}

// Link is a file that a tool server refers to by a URI of any scheme. Nobody here
// fetches it.
type Link struct {
	URI      string `json:"uri"`
	Name     string `json:"name,omitempty"`
	MIMEType string `json:"mime_type,omitempty"`
}

// FileName is the name of the file without the place where it is, or "".
func (m Media) FileName() string { return fileName(m.Name) }

// URI is the URI that the tool server gave for a name, or "".
func (m Media) URI() string {
	if parseURI(m.Name) == nil {
		return ""
	}
	return m.Name
}

// FileName is the name of the file without the place where it is, or "".
func (l Link) FileName() string { return cmp.Or(fileName(l.Name), fileName(l.URI)) }

func fileName(name string) string {
	if u := parseURI(name); u != nil {
		name = cmp.Or(strings.TrimRight(u.Path, "/"), u.Opaque, u.Host)
	}
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	return name
}

// parseURI is nil for what is no absolute URI, such as a name or C:\file.
func parseURI(name string) *url.URL {
	u, err := url.Parse(name)
	if err != nil || len(u.Scheme) < 2 {
		return nil
	}
	return u
}

// Transcript is a conversation's messages: the older ones in the blob store,
// the rest inline. Package transcript loads and folds it.
type Transcript struct {
	Head *Head     `json:"head,omitempty"`
	Tail []Message `json:"tail"`
}

// Head addresses the newest segment of folded messages. Segments are chained.
type Head struct {
	Blob
	Count int `json:"count"` // messages in this segment and all before it
}

// Len is the number of messages.
func (t Transcript) Len() int {
	n := 0
	if t.Head != nil {
		n = t.Head.Count
	}
	for _, m := range t.Tail {
		switch {
		case m.Part == nil:
			n++
		case m.Part.Transcript != nil:
			n += m.Part.Transcript.Len()
		}
	}
	return n
}
