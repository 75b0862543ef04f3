package service

import (
	"context"

	"agent-stop-and-go/workflows/contract"
)

type actingKey struct{}

// acting is for whom a context works. Without it, nobody may see or change anything.
type acting struct {
	caller contract.Identity
	itself bool
}

// ActingFor returns a context that works for a caller.
func ActingFor(ctx context.Context, caller contract.Identity) context.Context {
	return context.WithValue(ctx, actingKey{}, acting{caller: caller})
}

// ActingItself returns a context that works for the gateway itself. What it reads must not
// reach a caller who was not checked.
func ActingItself(ctx context.Context) context.Context {
	return context.WithValue(ctx, actingKey{}, acting{itself: true})
}

// Acting returns the caller for whom a context works, or reports that it is the gateway itself.
func Acting(ctx context.Context) (caller contract.Identity, itself bool) {
	a, _ := ctx.Value(actingKey{}).(acting)
	return a.caller, a.itself
}

// MaySee reports whether a caller may see what belongs to an owner, by its key. What nobody
// owns began before callers were known: only those who see everything see it.
func MaySee(caller contract.Identity, owner string) bool {
	return caller.Authenticated() && (caller.Has(contract.ScopeReadAll) || caller.Key() == owner && (caller.Has(contract.ScopeRead) || caller.Has(contract.ScopeConverse)))
}

// See fails if the caller may not see a conversation, as if it did not exist. Whatever callers
// share, such as a wait, needs it: the backend is asked once for all of them.
func (s *Service) See(ctx context.Context, id string) error {
	if s.seeing == nil {
		return nil
	}
	return s.seeing(ctx, id)
}

// mayShow reports whether the caller may see an exported conversation of an owner.
func (s *Service) mayShow(ctx context.Context, owner contract.Identity) bool {
	caller, itself := Acting(ctx)
	return s.seeing == nil || itself || MaySee(caller, owner.Key())
}
