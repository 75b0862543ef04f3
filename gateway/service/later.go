package service

import (
	"context"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/later"
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
