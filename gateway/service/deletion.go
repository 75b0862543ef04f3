package service

import (
	"context"
	"errors"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// Graves has the tombstones of deleted conversations.
type Graves interface {
	// Tombstone returns the tombstone of a conversation, or nil if it was not deleted.
	Tombstone(ctx context.Context, conversationID string) (*deletion.Tombstone, error)
}

// Delete removes a conversation and all that belongs to it, also its decisions, except what its
// tombstone has. It fails with KindWaiting while an approval waits, unless force is set. When ctx
// ends, the deletion goes on.
func (s *Service) Delete(ctx context.Context, c Caller, id string, force bool) (*deletion.Tombstone, error) {
	result, err := s.backend.Delete(ctx, deletion.Input{
		ConversationID: id, Cause: deletion.CauseRequest, Force: force, At: s.now().UTC(),
		By: c.Subject, Identity: c.acting(contract.ScopeConverse, contract.ScopeOperate),
	})
	switch {
	case err != nil:
		return nil, err
	case result.Refused == contract.KindWaiting:
		return nil, Errorf(contract.KindWaiting, "an approval of the conversation waits: decide it first, or delete with force, which withdraws it")
	case result.Refused == contract.KindNotFound:
		return nil, NoConversation(id)
	}
	return result.Tombstone, nil
}

// Deleted returns the error for a conversation that was deleted.
func Deleted(t deletion.Tombstone) error {
	return &Gone{&Error{Kind: deletion.KindDeleted, Text: t.Text()}, t}
}

// Gone is the error for a conversation that was deleted, with its tombstone.
type Gone struct {
	Cause     *Error
	Tombstone deletion.Tombstone
}

func (g *Gone) Error() string { return g.Cause.Error() }

func (g *Gone) Unwrap() error { return g.Cause }

// TombstoneIn returns the tombstone of the conversation that an error is about, if it was deleted.
func TombstoneIn(err error) (t deletion.Tombstone, ok bool) {
	var gone *Gone
	if errors.As(err, &gone) {
		return gone.Tombstone, true
	}
	return t, false
}
