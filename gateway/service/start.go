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
	// ID is the request ID. A request that is sent again with its ID is carried out once.
	ID string
	// Repeatable requests have an ID that is derived from what the caller sent, so an earlier
	// request may have the same.
	Repeatable bool
	// Fingerprint distinguishes a repeated request from a different one with the same ID; ""
	// is not compared.
	Fingerprint string
	// MayBeCompleted requests accept that the conversation is completed.
	MayBeCompleted bool
	// Whole: the reply has all messages of the conversation instead of the newest page.
	Whole bool
}

// NewConversation is a conversation to start.
type NewConversation struct {
	Request
	// Agent answers, nil for that of the service. It is a part of it, or has fewer rights.
	Agent *contract.Agent
	// Message is the first message, or nil.
	Message *Message
	// Task marks A2A tasks, in the context ContextID.
	Task      bool
	ContextID string
	// Chain names the agents that forwarded the work.
	Chain []string
	// Push is a webhook that is notified about the conversation from its start, or nil.
	Push *PushConfig
}

// StartedConversation is a conversation that this or an earlier request started.
type StartedConversation struct {
	// Existed reports whether an earlier request started it. Fingerprint is that of the
	// request that did.
	Existed     bool
	Fingerprint string
	// View is the conversation with its first message, before any work.
	View contract.ConversationView
}

// Start starts a conversation, or returns the existing one with its ID. It does not wait for
// a result.
func (s *Service) Start(ctx context.Context, c Caller, n NewConversation) (StartedConversation, error) {
	ctx, cancel := detached(ctx)
	defer cancel()
	in, err := s.startInput(ctx, c, n)
	if err != nil {
		return StartedConversation{}, err
	}
	return s.start(ctx, in)
}

// StartAndAwait starts a conversation with a first message, and waits until that has settled.
// Without an error and without a settlement, the conversation has been started, now or before,
// and the settlement is to be awaited.
func (s *Service) StartAndAwait(ctx context.Context, c Caller, n NewConversation) (StartedConversation, *Settlement, error) {
	in, err := s.startInput(ctx, c, n)
	if err != nil {
		return StartedConversation{}, nil, err
	}
	settled, err := s.waits.once(ctx, func(ctx context.Context) (contract.AwaitResult, error) { return s.backend.StartAndAwait(ctx, in) })
	if err == nil {
		s.idle.Observe(settled.View)
		return StartedConversation{Fingerprint: n.Fingerprint, View: viewBeforeWork(in.Conversation, in.CreatedAt)}, &settled, nil
	}
	again, cancel := detached(ctx)
	defer cancel()
	started, err := s.start(again, in)
	if started.View.CreatedAt.Equal(in.CreatedAt) { // the first attempt has started it
		started.Existed = false
	}
	return started, nil, err
}

func (s *Service) startInput(ctx context.Context, c Caller, n NewConversation) (StartInput, error) {
	agent := s.agent
	if n.Agent != nil {
		agent = *n.Agent
	}
	in := StartInput{
		Conversation: contract.ConversationInput{
			ID: n.ConversationID, SessionID: c.Session, Owner: s.ownerOf(c), Agent: agent, Chain: n.Chain, ContextID: n.ContextID, Task: n.Task,
		},
		Fingerprint: n.Fingerprint, CreatedAt: s.now(), Push: n.Push,
	}
	if n.Message == nil {
		return in, nil
	}
	if err := checkModel(agent, n.Message.Model); err != nil {
		return in, err
	}
	first, blobs, err := s.signalOf(ctx, c, n.Request, *n.Message)
	in.Conversation.First, in.Keep = &first, blobs.keeper()
	return in, err
}

// ownerOf returns whom a new conversation of a caller belongs to: the caller, and those of its
// groups that share conversations.
func (s *Service) ownerOf(c Caller) contract.Identity {
	owner := c.acting(contract.ScopeConverse)
	for _, group := range s.shared[c.Identity.Issuer] {
		if c.Identity.MemberOf(group) {
			owner.Groups = append(owner.Groups, group)
		}
	}
	return owner
}

func (s *Service) start(ctx context.Context, in StartInput) (StartedConversation, error) {
	started, err := s.backend.Start(ctx, in)
	at := in.CreatedAt
	if started.Existed {
		at = started.CreatedAt
	}
	return StartedConversation{Existed: started.Existed, Fingerprint: started.Fingerprint, View: viewBeforeWork(in.Conversation, at)}, err
}

// viewBeforeWork returns a conversation with only its first message.
func viewBeforeWork(in contract.ConversationInput, at time.Time) contract.ConversationView {
	view := contract.ConversationView{
		ID: in.ID, SessionID: in.SessionID, Owner: in.Owner, ContextID: in.ContextID, Task: in.Task, Status: contract.StatusActive,
		CreatedAt: at, UpdatedAt: at,
	}
	if first := in.First; first != nil {
		m := contract.Message{
			ID: first.RequestID, Role: contract.RoleUser, Content: first.Text, Media: first.Media, DraftID: first.Name, Model: first.Model, Echo: first.Echo, CreatedAt: at,
		}
		if first.Identity.Authenticated() {
			m.Identity = &first.Identity
		}
		view.Transcript = contract.Transcript{Tail: []contract.Message{m}}
	}
	return view
}

// ReadNew reads a conversation that was just started without a message.
func (s *Service) ReadNew(ctx context.Context, id string) (document.Conversation, error) {
	view, err := s.backend.Conversation(ctx, id, "")
	if err != nil {
		return document.Conversation{}, err
	}
	s.idle.Observe(view)
	return s.Render(ctx, view, Part{})
}
