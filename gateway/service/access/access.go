package access

import (
	"context"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Backend is a backend behind which callers see only what is theirs. Methods that are about
// nothing of a caller's, such as the tools of a worker, are those of the wrapped one.
type Backend struct {
	service.Worker
	backend   service.Backend
	owners    owners
	approvers []string
}

var _ service.Backend = (*Backend)(nil)

// New wraps a backend. The rules are those of the agent; an approval has its own, those of the
// time when it was asked for.
func New(b service.Backend, rules []string) *Backend {
	return &Backend{Worker: b, backend: b, owners: newOwners(b), approvers: rules}
}

// see fails if the caller may not see a conversation, as if it did not exist.
func (b *Backend) see(ctx context.Context, id string) error {
	caller, itself := service.Acting(ctx)
	if itself {
		return nil
	}
	owner, err := b.owners.ofConversation(ctx, id)
	if err != nil {
		return err
	}
	if !maySee(caller, owner) {
		return service.NoConversation(id)
	}
	return nil
}

// maySee reports whether a caller may see what belongs to an owner, by its key. What nobody
// owns began before callers were known: only those who see everything see it.
func maySee(caller contract.Identity, owner string) bool {
	return caller.Authenticated() && (caller.Has(contract.ScopeReadAll) || caller.Key() == owner)
}

// write fails if the caller may not change a conversation. Nobody changes that of somebody
// else, but those who may read everything are told so.
func (b *Backend) write(ctx context.Context, id string) error {
	if err := b.see(ctx, id); err != nil {
		return err
	}
	caller, itself := service.Acting(ctx)
	owner, err := b.owners.ofConversation(ctx, id)
	if err != nil || itself || caller.Key() == owner || caller.Has(contract.ScopeOperate) {
		return err
	}
	return service.Errorf(contract.KindForbidden, "conversation %s belongs to somebody else", service.Printable(id))
}

// Start implements Conversations. A conversation that exists and belongs to somebody else is
// reported by the first use of it.
func (b *Backend) Start(ctx context.Context, in service.StartInput) (service.StartResult, error) {
	caller, itself := service.Acting(ctx)
	if !itself && !caller.Same(in.Conversation.Owner) {
		return service.StartResult{}, service.NoConversation(in.Conversation.ID)
	}
	result, err := b.backend.Start(ctx, in)
	if err == nil && result.Existed {
		err = b.see(ctx, in.Conversation.ID)
	}
	return result, err
}

// Signal implements Conversations.
func (b *Backend) Signal(ctx context.Context, id, signal string, payload any) error {
	if err := b.write(ctx, id); err != nil {
		return err
	}
	return b.backend.Signal(ctx, id, signal, payload)
}

// Admit implements Conversations.
func (b *Backend) Admit(ctx context.Context, id string, q contract.ConversationQuery) (contract.ConversationView, error) {
	if err := b.see(ctx, id); err != nil {
		return contract.ConversationView{}, err
	}
	return b.backend.Admit(ctx, id, q)
}

// Await implements Conversations.
func (b *Backend) Await(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	if err := b.see(ctx, id); err != nil {
		return contract.AwaitResult{}, err
	}
	return b.backend.Await(ctx, id, requestIDs)
}

// Conversation implements Conversations.
func (b *Backend) Conversation(ctx context.Context, id, requestID string) (contract.ConversationView, error) {
	if err := b.see(ctx, id); err != nil {
		return contract.ConversationView{}, err
	}
	return b.backend.Conversation(ctx, id, requestID)
}

// Trouble implements Conversations.
func (b *Backend) Trouble(ctx context.Context, id string) (service.Item, string, error) {
	if err := b.see(ctx, id); err != nil {
		return service.Item{}, "", err
	}
	return b.backend.Trouble(ctx, id)
}

// Tree implements Conversations.
func (b *Backend) Tree(ctx context.Context, id string) (contract.TreeView, error) {
	if err := b.see(ctx, id); err != nil {
		return contract.TreeView{}, err
	}
	return b.backend.Tree(ctx, id)
}

// Owner implements Conversations.
func (b *Backend) Owner(ctx context.Context, id string) (string, error) {
	if err := b.see(ctx, id); err != nil {
		return "", err
	}
	return b.owners.ofConversation(ctx, id)
}

// SetPush implements Pushes.
func (b *Backend) SetPush(ctx context.Context, id string, c service.PushConfig) (service.PushConfig, error) {
	if err := b.write(ctx, id); err != nil {
		return service.PushConfig{}, err
	}
	return b.backend.SetPush(ctx, id, c)
}

// PushConfigs implements Pushes. They are shown to those who may change them.
func (b *Backend) PushConfigs(ctx context.Context, id string) ([]service.PushConfig, error) {
	if err := b.write(ctx, id); err != nil {
		return nil, err
	}
	return b.backend.PushConfigs(ctx, id)
}

// DeletePush implements Pushes.
func (b *Backend) DeletePush(ctx context.Context, id, push string) error {
	if err := b.write(ctx, id); err != nil {
		return err
	}
	return b.backend.DeletePush(ctx, id, push)
}
