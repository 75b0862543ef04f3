package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/switches"
)

var (
	errUnreadLimit = errors.New(`the input is {"agent":"…","limit":"…","calls":20,"in":60000000000,"on_limit":"deny"}; without the last three the limit is as configured`)
	errManyLimits  = fmt.Errorf("%d limits differ from their configuration already; restore some first", switches.MaxLimits)
)

// readLimit reads a switches.LimitChange.
func (c *control) readLimit(raw json.RawMessage) (given switches.LimitChange, err error) {
	if json.Unmarshal(raw, &given) != nil {
		return given, errUnreadLimit
	}
	if err := given.Check(); err != nil {
		return given, err
	}
	if _, known := c.state.Change(given.Agent, given.Limit); !known && !given.Restores() && len(c.state.Limits) >= switches.MaxLimits {
		return given, errManyLimits
	}
	return given, nil
}

func (c *control) validateLimit(_ workflow.Context, raw json.RawMessage) error {
	_, err := c.readLimit(raw)
	if errors.Is(err, errManyLimits) {
		return refusal(contract.KindBusy, err)
	}
	return refusal(contract.KindInvalid, err)
}

func (c *control) updateLimit(ctx workflow.Context, raw json.RawMessage) (switches.State, error) {
	given, err := c.readLimit(raw)
	if err == nil {
		c.change(ctx, c.provenLimit(ctx, switches.UpdateLimit, raw, given))
	}
	return c.state, refusal(contract.KindInvalid, err)
}

// provenLimit is proven for a change of a limit.
func (c *control) provenLimit(ctx workflow.Context, name string, raw json.RawMessage, given switches.LimitChange) switches.LimitChange {
	if given.Identity.Authenticated() && !c.proofs.Check(ctx, name, raw, given.Proof) {
		given.Identity = contract.Identity{}
	}
	given.Proof = ""
	return given
}

// change changes a rate limit. Activities read it from the memo.
func (c *control) change(ctx workflow.Context, given switches.LimitChange) {
	given.Since = workflow.Now(ctx).UTC()
	c.state.Limits = slices.DeleteFunc(c.state.Limits, func(l switches.LimitChange) bool { return l.Agent == given.Agent && l.Limit == given.Limit })
	if !given.Restores() {
		c.state.Limits = append(c.state.Limits, given)
	}
	c.write(ctx)
	c.recordLimit(ctx, given)
	workflow.GetLogger(ctx).Info(switches.LogLimit, "agent", given.Agent, "limit", given.Limit, "by", given.By, "issuer", given.Identity.Issuer)
}
