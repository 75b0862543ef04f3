package access

import (
	"context"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// Backend is a backend behind which callers see only what is theirs. Methods that are about
// nothing of a caller's, such as the tools of a worker and the switches, are those of the wrapped one.
type Backend struct {
	service.Worker
	service.Control
	service.Deputation
	backend   service.Backend
	owners    owners
	approvers []string
	former    *rules
	shares    bool // groups own conversations too
}

var _ service.Backend = (*Backend)(nil)

// New wraps a backend. The rules are those of the agent; an approval has its own, those of the
// time when it was asked for. If groups own conversations too, shares is set.
func New(b service.Backend, agent []string, shares bool) *Backend {
	return &Backend{Worker: b, Control: b, Deputation: b, backend: b, owners: newOwners(b), approvers: agent, former: &rules{backend: b, now: time.Now}, shares: shares}
}

// See fails if the caller may not see a conversation, as if it did not exist.
func (b *Backend) See(ctx context.Context, id string) error {
	_, err := b.visibleOwner(ctx, id)
	return err
}

// visibleOwner returns the owner of a conversation that the caller may see.
func (b *Backend) visibleOwner(ctx context.Context, id string) (owner service.Owner, err error) {
	caller, itself := service.Acting(ctx)
	if itself {
		return service.Owner{}, nil
	}
	start := time.Now()
	owner, err = b.owners.ofConversation(ctx, id, func(owner service.Owner) bool { return service.MaySee(caller, owner) })
	if (err == nil || service.IsKind(err, deletion.KindDeleted)) && !service.MaySee(caller, owner) {
		err = service.NoConversation(id)
	}
	if err != nil {
		even(ctx, start)
	}
	return owner, err
}

// write fails if the caller may not change a conversation: KindForbidden for those who may read
// it. Only operators change that of somebody else who shares no group.
func (b *Backend) write(ctx context.Context, id string) error {
	return b.change(ctx, id, service.Owner.Owns)
}

// govern is write for what only the one who started a conversation does with it, and operators:
// groups do not.
func (b *Backend) govern(ctx context.Context, id string) error {
	return b.change(ctx, id, func(owner service.Owner, caller contract.Identity) bool { return caller.Key() == owner.Key })
}

func (b *Backend) change(ctx context.Context, id string, may func(service.Owner, contract.Identity) bool) error {
	owner, err := b.visibleOwner(ctx, id)
	if err != nil {
		return err
	}
	switch caller, itself := service.Acting(ctx); {
	case itself:
		return nil
	case !caller.Has(contract.ScopeConverse):
		return lacks(contract.ScopeConverse)
	case !may(owner, caller) && !caller.Has(contract.ScopeOperate):
		return service.Errorf(contract.KindForbidden, "conversation %s belongs to somebody else", service.Printable(id))
	}
	return nil
}

func lacks(scope string) error {
	return service.Errorf(contract.KindForbidden, "this needs the scope %s", scope)
}

// Start implements Conversations.
func (b *Backend) Start(ctx context.Context, in service.StartInput) (service.StartResult, error) {
	if err := mayStart(ctx, in.Conversation); err != nil {
		return service.StartResult{}, err
	}
	result, err := b.backend.Start(ctx, in)
	switch {
	case service.IsKind(err, deletion.KindDeleted):
		return service.StartResult{}, b.See(ctx, in.Conversation.ID)
	case err != nil:
		return service.StartResult{}, err
	case result.Existed:
		return result, b.See(ctx, in.Conversation.ID)
	}
	b.owners.started(in.Conversation)
	return result, nil
}

// StartAndAwait implements Conversations. It returns only what it has started.
func (b *Backend) StartAndAwait(ctx context.Context, in service.StartInput) (contract.AwaitResult, error) {
	if err := mayStart(ctx, in.Conversation); err != nil {
		return contract.AwaitResult{}, err
	}
	result, err := b.backend.StartAndAwait(ctx, in)
	if err != nil {
		return contract.AwaitResult{}, err
	}
	b.owners.started(in.Conversation)
	return result, nil
}

// mayStart fails if a conversation would belong to somebody else than the caller, or the caller
// may start none.
func mayStart(ctx context.Context, in contract.ConversationInput) error {
	switch caller, itself := service.Acting(ctx); {
	case itself:
		return nil
	case !caller.Same(in.Owner):
		return service.NoConversation(in.ID)
	case !caller.Has(contract.ScopeConverse):
		return lacks(contract.ScopeConverse)
	}
	return nil
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
	if err := b.write(ctx, id); err != nil {
		return contract.ConversationView{}, err
	}
	return b.backend.Admit(ctx, id, q)
}

// Await implements Conversations.
func (b *Backend) Await(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	if err := b.See(ctx, id); err != nil {
		return contract.AwaitResult{}, err
	}
	return b.backend.Await(ctx, id, requestIDs)
}

// Conversation implements Conversations.
func (b *Backend) Conversation(ctx context.Context, id, requestID string) (contract.ConversationView, error) {
	if err := b.See(ctx, id); err != nil {
		return contract.ConversationView{}, err
	}
	return b.backend.Conversation(ctx, id, requestID)
}

// Trouble implements Conversations.
func (b *Backend) Trouble(ctx context.Context, id string) (service.Item, string, error) {
	if err := b.See(ctx, id); err != nil {
		return service.Item{}, "", err
	}
	return b.backend.Trouble(ctx, id)
}

// Tree implements Conversations.
func (b *Backend) Tree(ctx context.Context, id string) (contract.TreeView, error) {
	if err := b.See(ctx, id); err != nil {
		return contract.TreeView{}, err
	}
	return b.backend.Tree(ctx, id)
}

// Owner implements Conversations.
func (b *Backend) Owner(ctx context.Context, id string) (service.Owner, error) {
	if _, itself := service.Acting(ctx); itself {
		return b.backend.Owner(ctx, id)
	}
	return b.visibleOwner(ctx, id)
}

// Delete implements Conversations.
func (b *Backend) Delete(ctx context.Context, in deletion.Input) (deletion.Result, error) {
	if err := b.govern(ctx, in.ConversationID); err != nil {
		return deletion.Result{}, err
	}
	return b.backend.Delete(ctx, in)
}

// SetPush implements Pushes.
func (b *Backend) SetPush(ctx context.Context, id string, c service.PushConfig) (service.PushConfig, error) {
	if err := b.govern(ctx, id); err != nil {
		return service.PushConfig{}, err
	}
	return b.backend.SetPush(ctx, id, c)
}

// PushConfigs implements Pushes. They are shown to those who may change them.
func (b *Backend) PushConfigs(ctx context.Context, id string) ([]service.PushConfig, error) {
	if err := b.govern(ctx, id); err != nil {
		return nil, err
	}
	return b.backend.PushConfigs(ctx, id)
}

// DeletePush implements Pushes.
func (b *Backend) DeletePush(ctx context.Context, id, push string) error {
	if err := b.govern(ctx, id); err != nil {
		return err
	}
	return b.backend.DeletePush(ctx, id, push)
}
