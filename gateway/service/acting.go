package service

import (
	"context"
	"slices"

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

// Owner is whom something belongs to: who started it, and groups, all by their keys.
type Owner struct {
	Key    string
	Groups []string
}

// OwnerOf returns an identity as an owner.
func OwnerOf(i contract.Identity) Owner { return Owner{i.Key(), i.GroupKeys()} }

// Owns reports whether something of the owner belongs to a caller.
func (o Owner) Owns(caller contract.Identity) bool {
	if !caller.Authenticated() {
		return false
	}
	return caller.Key() == o.Key || slices.ContainsFunc(caller.GroupKeys(), func(group string) bool { return slices.Contains(o.Groups, group) })
}

// MaySee reports whether a caller may see what belongs to an owner. What nobody owns began
// before callers were known: only those who see everything see it.
func MaySee(caller contract.Identity, owner Owner) bool {
	return caller.Authenticated() && (caller.Has(contract.ScopeReadAll) || owner.Owns(caller) && (caller.Has(contract.ScopeRead) || caller.Has(contract.ScopeConverse)))
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
	return s.seeing == nil || itself || MaySee(caller, OwnerOf(owner))
}
