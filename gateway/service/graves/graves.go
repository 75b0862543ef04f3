// Package graves tells conversations that were deleted from those that never existed. A Backend
// with tombstones returns a *service.Gone where the wrapped one knows no conversation. It also
// starts no conversation with the ID of a deleted one: a repeated request would bring it back as
// an empty one.
package graves

import (
	"context"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// Backend is a backend with tombstones.
type Backend struct {
	service.Backend
	graves service.Graves
}

// New wraps a backend.
func New(b service.Backend, g service.Graves) *Backend { return &Backend{b, g} }

// explain replaces the error for an unknown conversation if it was deleted.
func (b *Backend) explain(ctx context.Context, id string, err error) error {
	if !service.IsKind(err, contract.KindNotFound) {
		return err
	}
	if gone := b.gone(ctx, id); gone != nil {
		return gone
	}
	return err
}

// gone returns an error if a conversation was deleted, or if that is not known.
func (b *Backend) gone(ctx context.Context, id string) error {
	if !contract.IsUUID(id) {
		return nil
	}
	t, err := b.graves.Tombstone(ctx, id)
	if err != nil {
		return err
	}
	if t == nil {
		return nil
	}
	return service.Deleted(*t)
}

// Owner implements Conversations. The owner of a deleted conversation comes with the error.
func (b *Backend) Owner(ctx context.Context, id string) (service.Owner, error) {
	owner, err := b.Backend.Owner(ctx, id)
	err = b.explain(ctx, id, err)
	if t, ok := service.TombstoneIn(err); ok {
		owner = service.Owner{Key: t.Owner}
	}
	return owner, err
}

// Start implements Conversations.
func (b *Backend) Start(ctx context.Context, in service.StartInput) (service.StartResult, error) {
	if err := b.gone(ctx, in.Conversation.ID); err != nil {
		return service.StartResult{}, err
	}
	return b.Backend.Start(ctx, in)
}

// StartAndAwait implements Conversations.
func (b *Backend) StartAndAwait(ctx context.Context, in service.StartInput) (contract.AwaitResult, error) {
	if err := b.gone(ctx, in.Conversation.ID); err != nil {
		return contract.AwaitResult{}, err
	}
	return b.Backend.StartAndAwait(ctx, in)
}

// Signal implements Conversations.
func (b *Backend) Signal(ctx context.Context, id, signal string, payload any) error {
	return b.explain(ctx, id, b.Backend.Signal(ctx, id, signal, payload))
}

// Admit implements Conversations.
func (b *Backend) Admit(ctx context.Context, id string, q contract.ConversationQuery) (contract.ConversationView, error) {
	v, err := b.Backend.Admit(ctx, id, q)
	return v, b.explain(ctx, id, err)
}

// Await implements Conversations.
func (b *Backend) Await(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	r, err := b.Backend.Await(ctx, id, requestIDs)
	return r, b.explain(ctx, id, err)
}

// Conversation implements Conversations.
func (b *Backend) Conversation(ctx context.Context, id, requestID string) (contract.ConversationView, error) {
	v, err := b.Backend.Conversation(ctx, id, requestID)
	return v, b.explain(ctx, id, err)
}

// Trouble implements Conversations.
func (b *Backend) Trouble(ctx context.Context, id string) (service.Item, string, error) {
	item, problem, err := b.Backend.Trouble(ctx, id)
	return item, problem, b.explain(ctx, id, err)
}

// Tree implements Conversations.
func (b *Backend) Tree(ctx context.Context, id string) (contract.TreeView, error) {
	v, err := b.Backend.Tree(ctx, id)
	return v, b.explain(ctx, id, err)
}

// Delete implements Conversations.
func (b *Backend) Delete(ctx context.Context, in deletion.Input) (deletion.Result, error) {
	r, err := b.Backend.Delete(ctx, in)
	return r, b.explain(ctx, in.ConversationID, err)
}

// SetPush implements Pushes.
func (b *Backend) SetPush(ctx context.Context, id string, c service.PushConfig) (service.PushConfig, error) {
	c, err := b.Backend.SetPush(ctx, id, c)
	return c, b.explain(ctx, id, err)
}

// PushConfigs implements Pushes.
func (b *Backend) PushConfigs(ctx context.Context, id string) ([]service.PushConfig, error) {
	list, err := b.Backend.PushConfigs(ctx, id)
	return list, b.explain(ctx, id, err)
}

// DeletePush implements Pushes.
func (b *Backend) DeletePush(ctx context.Context, id, push string) error {
	return b.explain(ctx, id, b.Backend.DeletePush(ctx, id, push))
}
