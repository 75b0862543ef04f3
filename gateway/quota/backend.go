package quota

import (
	"context"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// closingPause is when to try again after a refused conversation: others must be closed first.
const closingPause = 10 * time.Second

// Backend wraps a backend. In the result no caller starts a conversation beyond the limit.
func (q *Quota) Backend(b service.Backend) service.Backend {
	if q == nil || q.Limits.Conversations == 0 {
		return b
	}
	return &backend{b, q}
}

type backend struct {
	service.Backend
	quota *Quota
}

// Start implements Conversations.
func (b *backend) Start(ctx context.Context, in service.StartInput) (service.StartResult, error) {
	isNew, err := b.quota.admit(ctx, b.Backend, in.Conversation)
	if err != nil {
		return service.StartResult{}, err
	}
	result, err := b.Backend.Start(ctx, in)
	if isNew && result.Existed {
		b.quota.withdraw(ctx, in.Conversation)
	}
	return result, err
}

// StartAndAwait implements Conversations.
func (b *backend) StartAndAwait(ctx context.Context, in service.StartInput) (contract.AwaitResult, error) {
	if _, err := b.quota.admit(ctx, b.Backend, in.Conversation); err != nil {
		return contract.AwaitResult{}, err
	}
	return b.Backend.StartAndAwait(ctx, in)
}

// admit fails with KindBusy if the caller has as many open conversations as it may have. A
// request that repeats the start of a conversation is admitted always. isNew reports whether the
// ledger did not have the conversation before, and has it now.
func (q *Quota) admit(ctx context.Context, conversations service.Conversations, in contract.ConversationInput) (isNew bool, err error) {
	if !in.Owner.Authenticated() {
		return false, nil
	}
	var before []string
	var known bool
	err = q.ask(ctx, func(ctx context.Context, l Ledger) (err error) {
		before, known, err = l.Begin(ctx, in.Owner.Key(), in.ID)
		return err
	})
	if err != nil {
		return false, err
	}
	open, err := q.Open(ctx, in.Owner.Key(), append(before, in.ID))
	if open += int64(len(before)); err == nil && open < int64(q.Limits.Conversations) {
		return !known, nil
	}
	if !known {
		q.withdraw(ctx, in)
	}
	if err != nil {
		return false, err
	}
	if _, err := conversations.Owner(ctx, in.ID); !service.IsKind(err, contract.KindNotFound) {
		return false, nil // it was started before
	}
	return false, service.Busy(closingPause, "%d of your conversations are open, and a caller may have %d: close or delete one", open, q.Limits.Conversations)
}

func (q *Quota) withdraw(ctx context.Context, in contract.ConversationInput) {
	_ = q.ask(ctx, func(ctx context.Context, l Ledger) error { return l.Withdraw(ctx, in.Owner.Key(), in.ID) }) // the note ends soon
}
