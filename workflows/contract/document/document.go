// Package document is a conversation as people and programs outside read it: the
// file that is exported and the "conversation" of the REST API are the same
// document, with every value in place and nothing that only workflows need. Tree
// is its last turn as a picture of the agent's tree has it.
package document

//go:generate go test . -run Golden -update

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/transcript"
)

// Conversation is the document. Here and in the types below, the keys begin, in
// this order, with those of the conversation files of Agent Stop and Go, up to
// updated_at, created_at or is_error; the rest are additions.
type Conversation struct {
	ID               string                     `json:"id"`
	SessionID        string                     `json:"session_id,omitempty"`
	Status           contract.Status            `json:"status"`
	Messages         []Message                  `json:"messages"`
	PendingApproval  *contract.PendingApproval  `json:"pending_approval,omitempty"`
	PipelineState    *PipelineState             `json:"pipeline_state,omitempty"`
	CreatedAt        time.Time                  `json:"created_at"`
	UpdatedAt        time.Time                  `json:"updated_at"`
	PendingApprovals []contract.PendingApproval `json:"pending_approvals,omitempty"`
	Agent            string                     `json:"agent,omitempty"`
	Running          bool                       `json:"running,omitempty"`
	Queued           int                        `json:"queued,omitempty"`
	Usage            Usage                      `json:"usage,omitzero"`
	Version          int64                      `json:"version"`
	// Problem says why the conversation cannot be shown whole.
	Problem string `json:"problem,omitempty"`
	// AsOf is when this was so, of a conversation that cannot tell its present state.
	AsOf time.Time `json:"as_of,omitzero"`
}

// Message is a message of the document.
type Message struct {
	ID        string                   `json:"id"`
	Role      contract.Role            `json:"role"`
	Content   string                   `json:"content"`
	ToolCall  *ToolCall                `json:"tool_call,omitempty"`
	CreatedAt time.Time                `json:"created_at"`
	Node      string                   `json:"node,omitempty"`
	Approval  *contract.ApprovalResult `json:"approval,omitempty"`
	// Model is the model that wrote the message, by the provider's own name. Model,
	// Draft and Usage are on the first message of a reply.
	Model string `json:"model,omitempty"`
	// Draft is the name of the reply while it was being made.
	Draft string `json:"draft,omitempty"`
	Usage Usage  `json:"usage,omitzero"`
	// Media are the files that came with a user's message.
	Media []Media `json:"media,omitempty"`
}

// ToolCall is a call, or the result of one; then its arguments are null.
type ToolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Result    string          `json:"result,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	ID        string          `json:"id,omitempty"`
	Note      string          `json:"note,omitempty"`
	Media     []Media         `json:"media,omitempty"`
}

// Media is the binary part of a result. The gateway has its bytes, under the
// SHA-256.
type Media struct {
	MIMEType string `json:"mime_type"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256"`
	Name     string `json:"name,omitempty"`
}

// PipelineState says where a tree has paused for the pending approval.
type PipelineState struct {
	// NodePath leads to the node: child indices from the root, none for the root.
	NodePath     []int             `json:"paused_node_path"`
	OutputKey    string            `json:"paused_node_output_key"`
	SessionState map[string]string `json:"session_state"`
	UserMessage  string            `json:"user_message"`
}

// Render reads what lives in the store and returns the whole document.
func Render(ctx context.Context, store transcript.Store, v contract.ConversationView) (Conversation, error) {
	d := Conversation{
		ID: v.ID, SessionID: v.SessionID, Status: v.Status, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
		Agent: v.AgentName, Running: v.Running, Queued: v.Queued, Version: v.Version, Messages: []Message{},
		Usage: usage(v.Usage),
	}
	messages, err := transcript.Load(ctx, store, v.Transcript)
	if err != nil {
		return d, fmt.Errorf("render conversation %s: %w", v.ID, err)
	}
	for _, m := range messages {
		r, err := message(ctx, store, m)
		if err != nil {
			return d, fmt.Errorf("render message %s: %w", m.ID, err)
		}
		d.Messages = append(d.Messages, r)
	}
	for _, p := range v.Pending {
		r, err := Pending(ctx, store, p)
		if err != nil {
			return d, err
		}
		d.PendingApprovals = append(d.PendingApprovals, r)
	}
	if len(d.PendingApprovals) > 0 {
		d.PendingApproval = &d.PendingApprovals[0]
		if d.PipelineState, err = pipeline(ctx, store, v.Pipeline); err != nil {
			return d, fmt.Errorf("render the pipeline of conversation %s: %w", v.ID, err)
		}
	}
	return d, nil
}

func pipeline(ctx context.Context, store transcript.Store, p *contract.PipelineState) (*PipelineState, error) {
	if p == nil {
		return nil, nil
	}
	d := &PipelineState{NodePath: append([]int{}, p.Path...), OutputKey: p.OutputKey, SessionState: map[string]string{}}
	var err error
	for _, v := range p.State {
		if d.SessionState[v.Key], err = transcript.ReadText(ctx, store, v.Text); err != nil {
			return nil, fmt.Errorf("value of %s: %w", v.Key, err)
		}
	}
	d.UserMessage, err = transcript.ReadText(ctx, store, p.UserMessage)
	return d, err
}

// Pending returns an approval with its arguments and schemas in place.
func Pending(ctx context.Context, store transcript.Store, p contract.PendingApproval) (contract.PendingApproval, error) {
	values := []*contract.JSON{&p.ToolArgs, &p.Schema}
	if p.Origin != nil {
		o := *p.Origin
		p.Origin = &o
		values = append(values, &o.Arguments, &o.Schema)
	}
	for _, v := range values {
		raw, err := transcript.ReadJSON(ctx, store, *v)
		if err != nil {
			return p, fmt.Errorf("render approval %s: %w", p.UUID, err)
		}
		*v = contract.JSON{Raw: raw}
	}
	return p, nil
}

func message(ctx context.Context, store transcript.Store, m contract.Message) (Message, error) {
	m.Native = nil // only its provider can read it
	m, err := transcript.Resolve(ctx, store, m)
	if err != nil {
		return Message{}, err
	}
	d := Message{
		ID: m.ID, Role: m.Role, Content: m.Content.Inline, Node: m.Node, CreatedAt: m.CreatedAt,
		Model: m.Model, Draft: m.Draft, Usage: usage(m.Usage), Media: media(m.Media),
	}
	if m.Approval != nil {
		record := *m.Approval
		record.Credential = ""
		d.Approval = &record
	}
	if c := m.ToolCall; c != nil {
		d.ToolCall = &ToolCall{
			ID: c.ID, Name: c.Name, Arguments: c.Arguments.Raw, Result: c.Result.Inline, IsError: c.IsError, Note: c.Note,
			Media: media(c.Media),
		}
	}
	return d, nil
}

func media(refs []contract.Media) []Media {
	var out []Media
	for _, m := range refs {
		out = append(out, Media{MIMEType: m.MIMEType, Size: m.Size, SHA256: m.SHA256, Name: m.Name})
	}
	return out
}
