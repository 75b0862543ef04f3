package document

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/promptversion"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/record/transcript"
)

// Conversation is the document. Here and in the types below the first keys, up to updated_at,
// created_at or is_error, are those of the conversation files of Agent Stop and Go, in their
// order; the rest are additions.
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
	// Prompts are the system prompts that it has had, the newest last, if they have sections.
	Prompts []promptversion.Use `json:"prompts,omitempty"`
	Version int64               `json:"version"`
	// Owner started the conversation, if it is known.
	Owner contract.Identity `json:"owner,omitzero"`
	// MessagesBefore is the number of messages before those in Messages (RenderPage).
	MessagesBefore int `json:"messages_before,omitempty"`
	// Title is the title that somebody gave the conversation, and Renamed is who, and when.
	Title   string   `json:"title,omitempty"`
	Renamed *Renamed `json:"renamed,omitempty"`
	// Model was chosen for all messages that name none. The message that chose it has who did.
	Model string `json:"model,omitempty"`
	// Problem is why the conversation cannot be shown completely.
	Problem string `json:"problem,omitempty"`
	// AsOf is the time of the document, for a conversation whose current state is not
	// available.
	AsOf time.Time `json:"as_of,omitzero"`
}

// Renamed says who gave a conversation its title, and when.
type Renamed struct {
	By         string            `json:"by,omitempty"`
	OnBehalfOf string            `json:"on_behalf_of,omitempty"`
	Identity   contract.Identity `json:"identity,omitzero"`
	At         time.Time         `json:"at"`
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
	// Model is the model that wrote the message, by the provider's own name. Model, DraftID and
	// Usage are on the first message of a reply.
	Model string `json:"model,omitempty"`
	// DraftID is the ID that the reply had while it was generated.
	DraftID string `json:"draft,omitempty"`
	Usage   Usage  `json:"usage,omitzero"`
	// Media are the files that came with a user's message.
	Media []Media `json:"media,omitempty"`
	// Identity is the sender of a user's message, if it is known.
	Identity *contract.Identity `json:"identity,omitempty"`

	// Preface is the length in bytes of what a program has put in front of Content, which is not shown.
	Preface int `json:"-"`
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
	// Verdict is what the agent's rules say about the call.
	Verdict *Verdict `json:"verdict,omitempty"`
}

// Verdict names the rule that decided what happens to a call.
type Verdict struct {
	Outcome verdict.Outcome `json:"outcome"`
	Rule    string          `json:"rule"`
	Policy  string          `json:"policy"` // version of the rules
	Text    string          `json:"text,omitempty"`
	// Facts are what the tool's server said of the call, by the names of the facts.
	Facts json.RawMessage `json:"facts,omitempty"`
	// Grant is the standing grant because of which the call did not ask.
	Grant *grant.Use `json:"grant,omitempty"`
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

// Render loads values from the store and returns the whole document. With an error it returns
// the readable part: a message that cannot be read is replaced by Lost, and so are earlier
// messages that cannot be listed.
func Render(ctx context.Context, store transcript.Store, v contract.ConversationView) (Conversation, error) {
	d := emptyDocument(v)
	var lost []error
	messages, err := transcript.Load(ctx, store, v.Transcript)
	if err != nil {
		lost, messages = append(lost, fmt.Errorf("render conversation %s: %w", v.ID, err)), v.Transcript.Tail
	}
	for _, m := range messages {
		r, err := renderMessage(ctx, store, m)
		lost = append(lost, err)
		d.Messages = append(d.Messages, r)
	}
	lost = append(lost, d.addPending(ctx, store, v))
	d.dropPreface()
	return d, errors.Join(lost...)
}

// dropPreface removes from the message that a paused tree works on what was put in front of it.
func (d *Conversation) dropPreface() {
	if d.PipelineState == nil {
		return
	}
	for _, m := range slices.Backward(d.Messages) {
		if m.Role != contract.RoleUser || m.Approval != nil {
			continue
		}
		if text := d.PipelineState.UserMessage; len(text) == m.Preface+len(m.Content) && strings.HasSuffix(text, m.Content) {
			d.PipelineState.UserMessage = m.Content
		}
		return
	}
}

// emptyDocument returns the document without its messages and pending approvals.
func emptyDocument(v contract.ConversationView) Conversation {
	d := Conversation{
		ID: v.ID, SessionID: v.SessionID, Status: v.Status, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt,
		Agent: v.AgentName, Running: v.Running, Queued: v.Queued, Version: v.Version, Messages: []Message{},
		Usage: usage(v.Usage), Owner: v.Owner, Model: v.Model, Prompts: v.Prompts,
	}
	if t := v.Title; t != nil {
		d.Title, d.Renamed = t.Text, &Renamed{By: t.By, OnBehalfOf: t.OnBehalfOf, Identity: t.Identity, At: t.At}
	}
	return d
}

// renderMessage returns a message of the document; with an error its text is Lost.
func renderMessage(ctx context.Context, store transcript.Store, m contract.Message) (Message, error) {
	r, err := message(ctx, store, m)
	if err != nil {
		return Message{ID: m.ID, Role: m.Role, Content: Lost, CreatedAt: m.CreatedAt}, fmt.Errorf("render message %s: %w", m.ID, err)
	}
	return r, nil
}

// Lost replaces the text of a message that cannot be read.
const Lost = "[This message cannot be read.]"

// addPending adds the pending approvals.
func (d *Conversation) addPending(ctx context.Context, store transcript.Store, v contract.ConversationView) (err error) {
	for _, p := range v.Pending {
		r, err := Pending(ctx, store, p)
		if err != nil {
			return err
		}
		d.PendingApprovals = append(d.PendingApprovals, r)
	}
	if len(d.PendingApprovals) == 0 {
		return nil
	}
	d.PendingApproval = &d.PendingApprovals[0]
	if d.PipelineState, err = pipeline(ctx, store, v.Pipeline); err != nil {
		return fmt.Errorf("render the pipeline of conversation %s: %w", v.ID, err)
	}
	return nil
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

// Pending returns an approval with its arguments and schemas loaded.
func Pending(ctx context.Context, store transcript.Store, p contract.PendingApproval) (contract.PendingApproval, error) {
	values := []*contract.JSON{&p.ToolArgs, &p.Schema}
	if p.Origin != nil {
		o := *p.Origin
		p.Origin = &o
		values = append(values, &o.Arguments, &o.Schema)
	}
	p.Binding, p.Granted = withoutDefinition(p.Binding), withoutDefinition(p.Granted)
	for _, v := range values {
		raw, err := transcript.ReadJSON(ctx, store, *v)
		if err != nil {
			return p, fmt.Errorf("render approval %s: %w", p.UUID, err)
		}
		*v = contract.JSON{Raw: raw}
	}
	text, err := transcript.ReadText(ctx, store, p.Explanation)
	if err != nil {
		return p, fmt.Errorf("render approval %s: %w", p.UUID, err)
	}
	p.Explanation = contract.Inline(text)
	return p, nil
}

// withoutDefinition returns a binding without the definition, whose hash is enough for people.
func withoutDefinition(b *contract.Binding) *contract.Binding {
	if b == nil {
		return nil
	}
	return &contract.Binding{Address: b.Address, SHA256: b.SHA256}
}

func message(ctx context.Context, store transcript.Store, m contract.Message) (Message, error) {
	m.Native = nil // readable by its provider only
	m, err := transcript.Resolve(ctx, store, m)
	if err != nil {
		return Message{}, err
	}
	d := Message{
		ID: m.ID, Role: m.Role, Content: m.Content.Inline, Node: m.Node, CreatedAt: m.CreatedAt,
		Model: m.Model, DraftID: m.DraftID, Usage: usage(m.Usage), Media: media(m.Media), Identity: m.Identity,
	}
	d.Preface = max(0, min(m.Preface, len(d.Content)))
	d.Content = d.Content[d.Preface:]
	if m.Approval != nil {
		record := *m.Approval
		record.Credential, record.Echo = "", contract.JSON{}
		d.Approval = &record
	}
	if c := m.ToolCall; c != nil {
		d.ToolCall = &ToolCall{
			ID: c.ID, Name: c.Name, Arguments: c.Arguments.Raw, Result: c.Result.Inline, IsError: c.IsError, Note: c.Note,
			Media: media(c.Media),
		}
		if v := c.Verdict; v != nil {
			d.ToolCall.Verdict = &Verdict{Outcome: v.Outcome, Rule: v.Rule, Policy: v.Policy, Text: v.Text, Facts: v.Facts, Grant: v.Grant}
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
