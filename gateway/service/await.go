package service

import (
	"context"

	"agent-stop-and-go/workflows/contract"
)

// Settlement is the outcome of a request, and the conversation at that time.
type Settlement struct {
	Outcome contract.Request
	View    contract.ConversationView
}

// Answer is a settlement, or the error in its place.
type Answer struct {
	Settlement
	Err error
}

// Await waits until a request has settled. It fails with the context's error when that ends
// first, and with ErrClosing when the service closes.
func (s *Service) Await(ctx context.Context, r Request) (Settlement, error) {
	if err := s.See(ctx, r.ConversationID); err != nil {
		return Settlement{}, err
	}
	return s.waits.wait(ctx, r.ConversationID, r.ID)
}

// AwaitAsync returns a channel that delivers the answer of a request. It stops waiting when
// the context ends.
func (s *Service) AwaitAsync(ctx context.Context, r Request) <-chan Answer {
	out := make(chan Answer, 1)
	go func() {
		settlement, err := s.Await(ctx, r)
		out <- Answer{settlement, err}
	}()
	return out
}

// awaitBackend is Backend.Await, and records which conversations are idle.
func (s *Service) awaitBackend(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	result, err := s.backend.Await(ActingItself(ctx), id, requestIDs) // for all who wait
	if err == nil {
		s.idle.Observe(result.Conversation)
	}
	return result, err
}

// Settled returns the settlement of a request, or nil if it has not settled or no worker
// answers. Unlike Await it writes nothing to history.
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

// Completed returns the settlement of a request in a completed conversation: its result if it
// was carried out before, otherwise a refusal.
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
