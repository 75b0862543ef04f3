package service

import (
	"context"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/switches"
)

// Control pauses destructive calls by switches, for all agents of the namespace.
type Control interface {
	// Switches returns those that are set. It needs no worker.
	Switches(ctx context.Context) (switches.State, error)
	// Pause sets a switch, and Resume removes one. They return the new state, or nil if no worker
	// has answered in time; the change is recorded then. They fail with KindBusy if there are too
	// many switches.
	Pause(ctx context.Context, c switches.Change) (*switches.State, error)
	Resume(ctx context.Context, c switches.Change) (*switches.State, error)
	// ChangeLimit changes a rate limit. Its result is that of Pause.
	ChangeLimit(ctx context.Context, c switches.LimitChange) (*switches.State, error)
	// Release makes the rules of now count for an approval that waits for more than they need. It fails with
	// KindDecided if it waits no more, and with KindInvalid if there is nothing to release.
	Release(ctx context.Context, uuid string, in review.Release) error
	// RateUses returns the counts of an agent's rate limits, and whether there are more.
	RateUses(ctx context.Context) (uses []rates.View, more bool, err error)
}

// Switches returns the switches that are set.
func (s *Service) Switches(ctx context.Context) (switches.State, error) {
	return s.backend.Switches(ctx)
}

// Pause sets a switch in the name of a caller.
func (s *Service) Pause(ctx context.Context, c Caller, given switches.Change) (*switches.State, error) {
	return change(ctx, c, given, s.backend.Pause)
}

// Resume removes a switch in the name of a caller.
func (s *Service) Resume(ctx context.Context, c Caller, given switches.Change) (*switches.State, error) {
	return change(ctx, c, given, s.backend.Resume)
}

// ChangeLimit changes a rate limit in the name of a caller.
func (s *Service) ChangeLimit(ctx context.Context, c Caller, given switches.LimitChange) (*switches.State, error) {
	note, err := c.Note(Note{Reason: given.Reason, By: given.By})
	if err != nil {
		return nil, err
	}
	given.By, given.Identity = note.By, c.acting(contract.ScopeOperate)
	if err := given.Check(); err != nil {
		return nil, Errorf(contract.KindInvalid, "%s", err.Error())
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	return s.backend.ChangeLimit(ctx, given)
}

// Releasable lists the approvals of the agent that wait for more than the rules of now need, for
// operators: of all conversations.
func (s *Service) Releasable(ctx context.Context) (out []WaitingItem, err error) {
	for q := (ListQuery{Limit: 200}); ; {
		page, err := s.backend.Waiting(ActingItself(ctx), q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			if item.Judgements.Last().Would != nil {
				out = append(out, item)
			}
		}
		if q.Token = page.Next; len(q.Token) == 0 {
			return out, nil
		}
	}
}

// Release makes the rules of now count for an approval, in the name of a caller. It must be one of
// Releasable.
func (s *Service) Release(ctx context.Context, c Caller, item WaitingItem, given review.Release) error {
	note, err := c.Note(Note{Reason: given.Reason, By: given.By})
	if err != nil {
		return err
	}
	given.By, given.Identity = note.By, c.acting(contract.ScopeOperate)
	given.Policy = item.Judgements.Last().Policy
	ctx, cancel := detached(ctx)
	defer cancel()
	return s.backend.Release(ctx, item.UUID, given)
}

// RateUses returns the counts of the agent's rate limits, of all callers.
func (s *Service) RateUses(ctx context.Context) (uses []rates.View, more bool, err error) {
	return s.backend.RateUses(ctx)
}

func change(ctx context.Context, c Caller, given switches.Change, send func(context.Context, switches.Change) (*switches.State, error)) (*switches.State, error) {
	note, err := c.Note(Note{Reason: given.Reason, By: given.By})
	if err != nil {
		return nil, err
	}
	given.By, given.Identity = note.By, c.acting(contract.ScopeOperate)
	if err := given.Check(); err != nil {
		return nil, Errorf(contract.KindInvalid, "%s", err.Error())
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	return send(ctx, given)
}
