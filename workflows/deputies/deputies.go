package deputies

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/proof"
	"agent-stop-and-go/workflows/run"
)

// Deputies keeps the deputies of an agent. It never ends: a long run continues as new.
func Deputies(ctx workflow.Context, in deputy.Input) error {
	d := &deputies{state: in.State, proofs: proof.Of(ctx)}
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	o := workflow.UpdateHandlerOptions{Validator: d.validator(deputy.UpdateAppoint)}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, deputy.UpdateAppoint, d.appoint, o); err != nil {
		return err
	}
	o.Validator = d.validator(deputy.UpdateRevoke)
	if err := workflow.SetUpdateHandlerWithOptions(ctx, deputy.UpdateRevoke, d.revoke, o); err != nil {
		return err
	}
	if err := workflow.Await(ctx, func() bool { return run.IsLong(ctx, maxHistory) && workflow.AllHandlersFinished(ctx) }); err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(ctx, deputy.Workflow, deputy.Input{State: d.state})
}

type deputies struct {
	state  deputy.State
	proofs proof.Checker
}

// maxHistory is the number of events after which a run continues as new.
const maxHistory = 2000

// validator refuses what the update would not do. It leaves no event. A change that is not proven
// was typed: whoever can do that can end the workflow and decide approvals by signal, but cannot say
// in whose name.
func (d *deputies) validator(name string) func(workflow.Context, json.RawMessage) error {
	return func(ctx workflow.Context, raw json.RawMessage) error {
		var c deputy.Change
		if err := json.Unmarshal(raw, &c); err != nil {
			return refusal(contract.KindInvalid, errors.New("it is no change of deputies"))
		}
		if !d.proofs.Holds(name, raw, c.Proof) {
			return refusal(contract.KindForbidden, errors.New("it is not proven who sends it"))
		}
		if name == deputy.UpdateRevoke {
			return refusal(contract.KindForbidden, d.mayRevoke(c))
		}
		return d.mayAppoint(ctx, c)
	}
}

func (d *deputies) mayAppoint(ctx workflow.Context, c deputy.Change) error {
	now := workflow.Now(ctx)
	if c.By.Key() != c.From.Key() {
		return refusal(contract.KindForbidden, errors.New("everybody appoints only their own deputies"))
	}
	if err := c.Check(now); err != nil {
		return refusal(contract.KindInvalid, err)
	}
	all := d.state.At(now)
	own := 0
	for _, other := range all {
		if other.From.Key() == c.From.Key() && other.ID != c.ID {
			own++
		}
	}
	if len(all) >= deputy.Max || own >= deputy.MaxOf {
		return refusal(contract.KindBusy, fmt.Errorf("there are too many deputies: %d of one person and %d of all at most; revoke some first", deputy.MaxOf, deputy.Max))
	}
	return nil
}

// mayRevoke lets those revoke whom it concerns, and operators.
func (d *deputies) mayRevoke(c deputy.Change) error {
	i := d.indexOf(c.ID)
	if i < 0 || slices.Contains(c.By.Scopes, contract.ScopeOperate) {
		return nil
	}
	if by, is := c.By.Key(), d.state.Deputies[i]; by != is.From.Key() && by != is.To.Key() {
		return errors.New("it is for those whom it concerns to revoke")
	}
	return nil
}

func refusal(kind contract.Kind, err error) error {
	if err == nil {
		return nil
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), string(kind), nil)
}

func (d *deputies) indexOf(id string) int {
	return slices.IndexFunc(d.state.Deputies, func(x deputy.Deputy) bool { return x.ID == id })
}

// appoint adds a deputy. One that is sent again is there once.
func (d *deputies) appoint(ctx workflow.Context, raw json.RawMessage) (deputy.State, error) {
	return d.change(ctx, raw, func(c deputy.Change) {
		c.Since = workflow.Now(ctx).UTC()
		d.state.Deputies = append(d.state.Deputies, c.Deputy)
	})
}

func (d *deputies) revoke(ctx workflow.Context, raw json.RawMessage) (deputy.State, error) {
	return d.change(ctx, raw, func(deputy.Change) {})
}

// change replaces the deputy with an ID, and forgets those whose time is over. The memo is written
// with the workflow task that answers the update.
func (d *deputies) change(ctx workflow.Context, raw json.RawMessage, add func(deputy.Change)) (deputy.State, error) {
	var c deputy.Change
	if err := json.Unmarshal(raw, &c); err != nil {
		return d.state, refusal(contract.KindInvalid, err)
	}
	i := d.indexOf(c.ID)
	was := d.state
	d.state.Deputies = slices.DeleteFunc(d.state.At(workflow.Now(ctx)), func(x deputy.Deputy) bool { return x.ID == c.ID })
	add(c)
	switch n := d.indexOf(c.ID); {
	case n >= 0:
		d.record(ctx, "appointed", d.state.Deputies[n], c.By)
	case i >= 0:
		d.record(ctx, "revoked", was.Deputies[i], c.By)
	}
	if err := workflow.UpsertMemo(ctx, map[string]any{deputy.Memo: d.state}); err != nil {
		return d.state, fmt.Errorf("upsert the memo: %w", err)
	}
	workflow.GetLogger(ctx).Info("deputies have changed", "id", c.ID, "from", c.From.Key(), "to", c.To.Key(), "by", c.By.Key(), "deputies", len(d.state.Deputies))
	return d.state, nil
}
