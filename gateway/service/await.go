package service

import (
	"context"

	"agent-stop-and-go/workflows/contract"
)

// Settlement is what a request settled to, and the conversation at that time.
type Settlement struct {
	Outcome contract.Request
	View    contract.ConversationView
}

// Answer is a settlement, or why there is none.
type Answer struct {
	Settlement
	Err error
}

// Await returns when a request has settled. It fails with the context's error when that
// ends first, and with ErrClosing when the service closes.
func (s *Service) Await(ctx context.Context, r Request) (Settlement, error) {
	return s.waits.wait(ctx, r.ConversationID, r.ID)
}

// AwaitAside delivers the one answer of a request while the context lasts.
func (s *Service) AwaitAside(ctx context.Context, r Request) <-chan Answer {
	out := make(chan Answer, 1)
	go func() {
		settlement, err := s.Await(ctx, r)
		out <- Answer{settlement, err}
	}()
	return out
}

// awaitBackend is Backend.Await. It remembers which conversations are idle.
func (s *Service) awaitBackend(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	result, err := s.backend.Await(ctx, id, requestIDs)
	if err == nil {
		s.idle.observe(result.Conversation)
	}
	return result, err
}

// Settled is what a request has settled to by now, or nil. It writes nothing, unlike Await,
// and knows nothing while no worker answers.
func (s *Service) Settled(ctx context.Context, r Request) (*Settlement, error) {
	view, err := s.backend.Conversation(ctx, r.ConversationID, r.ID)
	switch {
	case IsKind(err, KindUnavailable):
		return nil, nil
	case err != nil:
		return nil, err
	case view.Request == nil || !view.Request.Settled:
		return nil, nil
	}
	return &Settlement{Outcome: *view.Request, View: view}, nil
}

// Completed is what a request came to in a conversation that has completed: its answer if
// it was carried out before that, otherwise a refusal.
func (s *Service) Completed(ctx context.Context, r Request) (Settlement, error) {
	view, err := s.backend.Conversation(ctx, r.ConversationID, r.ID)
	if err != nil {
		return Settlement{}, err
	}
	if view.Request != nil && view.Request.Settled {
		return Settlement{Outcome: *view.Request, View: view}, nil
	}
	return Settlement{Outcome: contract.Request{Refused: contract.KindCompleted}, View: view}, nil
}
