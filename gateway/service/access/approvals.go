package access

import (
	"context"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/later"
)

// rights are what a caller may do with an approval.
type rights struct {
	see, decide bool
	grounds     contract.Identity // the caller, with what allows the decision
	by          *deputy.Deputy    // by which the caller decides for somebody else
}

func (b *Backend) rights(ctx context.Context, uuid string) (r rights, s service.Subject, err error) {
	start := time.Now()
	caller, itself := service.Acting(ctx)
	of := func(s service.Subject) rights {
		if s.Elsewhere && !itself { // whose callers are others, also those of the same name
			return rights{}
		}
		grounds, may := approvers.Grounds(caller, s.Owner.Key, s.Approvers)
		decide := itself || may
		return rights{decide || service.MaySee(caller, s.Owner), decide, grounds, nil}
	}
	if s, err = b.owners.ofApproval(ctx, uuid, func(s service.Subject) bool { return of(s).see }); err == nil {
		r, err = b.inPlace(ctx, uuid, of(s), s)
	}
	if !r.see {
		even(ctx, start)
	}
	return r, s, err
}

func (b *Backend) seeApproval(ctx context.Context, uuid string) (service.Subject, error) {
	r, s, err := b.rights(ctx, uuid)
	if err == nil && !r.see {
		return service.Subject{}, service.NoApproval(uuid)
	}
	return s, err
}

// Decide implements Approvals. The record of a decision says which scopes and groups allowed it.
func (b *Backend) Decide(ctx context.Context, uuid string, in contract.DecideSignal) (*contract.ApprovalResult, error) {
	r, s, err := b.rights(ctx, uuid)
	switch {
	case err != nil:
		return nil, err
	case !r.see:
		return nil, service.NoApproval(uuid)
	case !r.decide:
		return nil, service.Errorf(contract.KindForbidden, "approval %s is for others to decide", service.Printable(uuid))
	}
	if r.grounds.Authenticated() {
		in.Identity = r.grounds
		in.For = r.by
	}
	if in.Always != nil && r.by == nil { // for calls of others it has to name what lets the caller decide those
		if caller, _ := service.Acting(ctx); approvers.MayDecideForOthers(caller, s.Approvers) {
			in.Identity, _ = approvers.Grounds(caller, "", s.Approvers)
		}
	}
	return b.backend.Decide(ctx, uuid, in)
}

// Later implements Approvals. Those who may decide put off.
func (b *Backend) Later(ctx context.Context, uuid string, d later.Deferral) error {
	r, _, err := b.rights(ctx, uuid)
	switch {
	case err != nil:
		return err
	case !r.see:
		return service.NoApproval(uuid)
	case !r.decide:
		return service.Errorf(contract.KindForbidden, "approval %s is for others to decide", service.Printable(uuid))
	}
	return b.backend.Later(ctx, uuid, d)
}

// Decision implements Approvals.
func (b *Backend) Decision(ctx context.Context, uuid string) (contract.ApprovalResult, error) {
	if _, err := b.seeApproval(ctx, uuid); err != nil {
		return contract.ApprovalResult{}, err
	}
	return b.backend.Decision(ctx, uuid)
}

// Approval implements Approvals.
func (b *Backend) Approval(ctx context.Context, uuid string) (contract.ApprovalView, error) {
	if _, err := b.seeApproval(ctx, uuid); err != nil {
		return contract.ApprovalView{}, err
	}
	return b.backend.Approval(ctx, uuid)
}

// Typist implements Approvals.
func (b *Backend) Typist(ctx context.Context, uuid string) (string, error) {
	if _, err := b.seeApproval(ctx, uuid); err != nil {
		return "", err
	}
	return b.backend.Typist(ctx, uuid)
}

// Subject implements Approvals.
func (b *Backend) Subject(ctx context.Context, uuid string) (service.Subject, error) {
	return b.seeApproval(ctx, uuid)
}
