package service

import (
	"context"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// Request identifies a request to a conversation.
type Request struct {
	ConversationID string
	// ID is the request ID. A request that comes again under its ID is carried out once.
	ID string
	// Repeatable requests have an ID that is derived from what the caller sent, so an
	// earlier one may have it.
	Repeatable bool
	// Fingerprint tells a repeated request from another one under the same ID; "" is not
	// compared.
	Fingerprint string
	// MayBeCompleted requests are content with a conversation that is completed.
	MayBeCompleted bool
	// Whole replies have all messages of the conversation, others the newest page.
	Whole bool
}

// NewConversation is a conversation to be started by a request.
type NewConversation struct {
	Request
	// Message is the first one; nil is none.
	Message *Message
	// Task marks conversations that are tasks of A2A, in the context ContextID.
	Task      bool
	ContextID string
	// Chain names the agents that the work has come through.
	Chain []string
	// Push is told how the conversation fares, from its start; nil is none.
	Push *PushConfig
}

// Opened is a conversation that has been started, now or by an earlier request.
type Opened struct {
	// Existed reports whether it was there before, and Fingerprint is that of the request
	// which started it.
	Existed     bool
	Fingerprint string
	// View is the conversation with its first message and before any work.
	View contract.ConversationView
}

// Start starts a conversation, or reports that there is one under its ID. It does not wait
// for an answer.
func (s *Service) Start(ctx context.Context, c Caller, n NewConversation) (Opened, error) {
	ctx, cancel := sending(ctx)
	defer cancel()
	in := StartInput{
		Conversation: contract.ConversationInput{
			ID: n.ConversationID, SessionID: c.Session, Agent: s.agent, Chain: n.Chain, ContextID: n.ContextID, Task: n.Task,
		},
		Fingerprint: n.Fingerprint, CreatedAt: s.now(), Push: n.Push,
	}
	if n.Message != nil {
		first, blobs, err := s.signalOf(ctx, c, n.Request, *n.Message)
		if err != nil {
			return Opened{}, err
		}
		in.Conversation.First, in.Keep = &first, blobs.keeper()
	}
	started, err := s.backend.Start(ctx, in)
	at := in.CreatedAt
	if started.Existed {
		at = started.CreatedAt
	}
	return Opened{Existed: started.Existed, Fingerprint: started.Fingerprint, View: viewBeforeWork(in.Conversation, at)}, err
}

// viewBeforeWork is a conversation of which nothing is known but its first message.
func viewBeforeWork(in contract.ConversationInput, at time.Time) contract.ConversationView {
	view := contract.ConversationView{
		ID: in.ID, SessionID: in.SessionID, ContextID: in.ContextID, Task: in.Task, Status: contract.StatusActive,
		CreatedAt: at, UpdatedAt: at,
	}
	if first := in.First; first != nil {
		view.Transcript = contract.Transcript{Tail: []contract.Message{{
			ID: first.RequestID, Role: contract.RoleUser, Content: first.Text, Media: first.Media, DraftID: first.Name, CreatedAt: at,
		}}}
	}
	return view
}

// Fresh reads a conversation that has just been started without a message.
func (s *Service) Fresh(ctx context.Context, id string) (document.Conversation, error) {
	view, err := s.backend.Conversation(ctx, id, "")
	if err != nil {
		return document.Conversation{}, err
	}
	s.idle.observe(view)
	return s.Render(ctx, view, Part{})
}
