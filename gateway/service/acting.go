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
