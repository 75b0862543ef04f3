package service

import (
	"context"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/later"

	"github.com/google/uuid"
)

// Later puts an approval off for the caller until a time; the zero time has it back at once. It
// still waits for everybody and expires when it would.
func (s *Service) Later(ctx context.Context, uuid string, until time.Time) error {
	caller, _ := Acting(ctx)
	d := later.Deferral{Subject: caller.Key(), Until: until.UTC()}
	if err := d.Check(time.Now()); err != nil {
		return Errorf(contract.KindInvalid, "%s", err)
	}
	return s.backend.Later(ctx, uuid, d)
}

// DeferredUntil returns until when the caller put an approval off, nil if it did not.
func DeferredUntil(ctx context.Context, l later.List) *time.Time {
	caller, _ := Acting(ctx)
	return l.Of(caller.Key(), time.Now())
}

// Waiting returns a page of the approvals that wait for a decision.
func (s *Service) Waiting(ctx context.Context, q ListQuery) (Page[WaitingItem], error) {
	page, err := s.backend.Waiting(ctx, q)
	for i, item := range page.Items {
		page.Items[i].DeferredUntil = DeferredUntil(ctx, item.Deferrals)
	}
	return page, err
}

// Deputation has who decides approvals in somebody's place.
type Deputation interface {
	// Deputies returns those of the agent, also those whose time is over. It needs no worker.
	Deputies(ctx context.Context) (deputy.State, error)
	// Appoint adds a deputy, and Revoke removes the one with an ID. They fail with KindInvalid,
	// KindForbidden, or KindBusy if there are too many.
	Appoint(ctx context.Context, c deputy.Change) error
	Revoke(ctx context.Context, c deputy.Change) error
}

// Deputies returns those that the caller is or has; for those who operate the agent or read
// everything, those of everybody.
func (s *Service) Deputies(ctx context.Context, c Caller) ([]deputy.Deputy, error) {
	state, err := s.backend.Deputies(ctx)
	if err != nil {
		return nil, err
	}
	if c.Identity.Has(contract.ScopeOperate) || c.Identity.Has(contract.ScopeReadAll) {
		return state.At(time.Now()), nil
	}
	return state.Of(c.Identity.Key(), time.Now()), nil
}

// Appoint lets somebody decide in the caller's place. Who vouches for them is who vouches for the
// caller, unless that is given. The caller must be able to decide the approval that d names, if any.
func (s *Service) Appoint(ctx context.Context, c Caller, d deputy.Deputy) (deputy.Deputy, error) {
	if !c.Authenticated() {
		return d, Errorf(contract.KindForbidden, "deputies need auth: nobody is known")
	}
	d.ID, d.From, d.Since, d.Until = uuid.NewString(), person(c.Identity), time.Now().UTC(), d.Until.UTC().Truncate(time.Second)
	if d.To.Issuer == "" {
		d.To.Issuer = c.Identity.Issuer
	}
	if err := d.Check(time.Now()); err != nil {
		return d, Errorf(contract.KindInvalid, "%s", err)
	}
	if d.Approval != "" && !contract.IsUUID(d.Approval) {
		return d, NoApproval(d.Approval)
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	return d, s.backend.Appoint(ctx, deputy.Change{Deputy: d, By: d.From})
}

// Revoke ends a deputy before its time.
func (s *Service) Revoke(ctx context.Context, c Caller, id string) error {
	list, err := s.Deputies(ctx, c)
	if err != nil {
		return err
	}
	for _, d := range list {
		if d.ID != id {
			continue
		}
		if by := c.Identity; !by.Has(contract.ScopeOperate) && by.Key() != d.From.Key() && by.Key() != d.To.Key() {
			return Errorf(contract.KindForbidden, "deputy %s is for those whom it concerns to revoke", Printable(id))
		}
		ctx, cancel := detached(ctx)
		defer cancel()
		return s.backend.Revoke(ctx, deputy.Change{Deputy: d, By: person(c.Identity)})
	}
	return Errorf(contract.KindNotFound, "there is no deputy %s", Printable(id))
}

func person(i contract.Identity) deputy.Person {
	return deputy.Person{Subject: i.Subject, Issuer: i.Issuer, Groups: i.Groups, Scopes: i.Scopes}
}
