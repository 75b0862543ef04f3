package access

import (
	"context"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/deputy"
)

// deputiesTo returns by which deputies a caller may decide. They are read each time: one that is
// revoked counts no more.
func (b *Backend) deputiesTo(ctx context.Context, caller contract.Identity) ([]deputy.Deputy, error) {
	if !caller.Authenticated() {
		return nil, nil
	}
	state, err := b.backend.Deputies(ctx)
	return state.To(caller.Key(), time.Now()), err
}

// inPlace adds to what a caller may do with an approval what it may in the place of others.
func (b *Backend) inPlace(ctx context.Context, uuid string, r rights, s service.Subject) (rights, error) {
	caller, itself := service.Acting(ctx)
	if r.decide || itself || s.Elsewhere {
		return r, nil
	}
	all, err := b.deputiesTo(ctx, caller)
	if d, ok := approvers.AnyDeputizes(caller, s.Owner.Key, s.Approvers, all, uuid, time.Now()); ok {
		r.see, r.decide, r.by = true, true, &d
	}
	return r, err
}

// Appoint implements Deputation. Who names an approval must be able to decide it.
func (b *Backend) Appoint(ctx context.Context, c deputy.Change) error {
	caller, itself := service.Acting(ctx)
	if itself || !caller.Authenticated() {
		return nobody
	}
	if !caller.Has(contract.ScopeApprove) && !caller.Has(contract.ScopeApproveAll) {
		return lacks(contract.ScopeApprove)
	}
	if c.Approval != "" {
		r, _, err := b.rights(ctx, c.Approval)
		switch {
		case err != nil:
			return err
		case !r.see:
			return service.NoApproval(c.Approval)
		case !r.decide || r.by != nil: // what somebody else has handed over is not handed on
			return service.Errorf(contract.KindForbidden, "approval %s is for others to decide", service.Printable(c.Approval))
		}
	}
	return b.backend.Appoint(ctx, c)
}
