package control

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/proof"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// Registry is what the workflow is registered with: a worker, a replayer or a test environment.
type Registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
}

// Register registers the workflow.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(Control, workflow.RegisterOptions{Name: switches.Workflow})
}

// Control holds switches, and the calls that wait for them to be removed.
func Control(ctx workflow.Context, in switches.Input) error {
	c := &control{state: in.State, waits: in.Waits, proofs: proof.Of(ctx), mayRelease: len(in.Waits) > 0}
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	c.pauses = workflow.GetSignalChannel(ctx, switches.SignalPause)
	c.resumes = workflow.GetSignalChannel(ctx, switches.SignalResume)
	c.registrations = workflow.GetSignalChannel(ctx, switches.SignalWait)
	c.renewals = workflow.GetSignalChannel(ctx, switches.SignalRenew)
	c.changes = workflow.GetSignalChannel(ctx, switches.SignalLimit)
	if err := c.register(ctx); err != nil {
		return err
	}
	c.show(ctx)
	for !c.mayRollOver(ctx) {
		if err := workflow.Await(ctx, func() bool { return c.arrived() || c.mayRelease || c.mayRollOver(ctx) }); err != nil {
			return err
		}
		c.drain(ctx)
		c.release(ctx)
	}
	return workflow.NewContinueAsNewError(ctx, switches.Workflow, switches.Input{State: c.state, Waits: c.waits})
}

type control struct {
	state   switches.State
	waits   []switches.Wait
	resumed switches.Release // by whom the last switch was removed
	problem string           // with the last signal
	proofs  proof.Checker
	// mayRelease is set when there may be waits that no switch holds.
	mayRelease bool
	// renew is set when somebody has asked for a new run.
	renew bool

	pauses, resumes, registrations, renewals, changes workflow.ReceiveChannel
}

func (c *control) register(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, switches.QueryControl, c.view); err != nil {
		return err
	}
	o := workflow.UpdateHandlerOptions{Validator: c.validateResume}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, switches.UpdateResume, c.updateResume, o); err != nil {
		return err
	}
	o.Validator = c.validateLimit
	if err := workflow.SetUpdateHandlerWithOptions(ctx, switches.UpdateLimit, c.updateLimit, o); err != nil {
		return err
	}
	o.Validator = c.validatePause
	return workflow.SetUpdateHandlerWithOptions(ctx, switches.UpdatePause, c.updatePause, o)
}

func (c *control) view() (switches.View, error) {
	return switches.View{State: c.state, Waiting: len(c.waits), Problem: c.problem}, nil
}

func (c *control) arrived() bool {
	return c.pauses.Len() > 0 || c.resumes.Len() > 0 || c.registrations.Len() > 0 || c.renewals.Len() > 0 || c.changes.Len() > 0
}

// maxHistory is the number of events after which a run continues as new.
const maxHistory = 2000

func (c *control) mayRollOver(ctx workflow.Context) bool {
	return (c.renew || run.IsLong(ctx, maxHistory)) && !c.arrived() && !c.mayRelease && workflow.AllHandlersFinished(ctx)
}

// pause sets a switch.
func (c *control) pause(ctx workflow.Context, given switches.Change) {
	if c.indexOf(given.What) >= 0 {
		return
	}
	c.state.Switches = append(c.state.Switches, switches.Switch{
		What: given.What, Reason: given.Reason, By: given.By, Since: workflow.Now(ctx).UTC(), Identity: given.Identity,
	})
	c.publish(ctx, switches.LogPaused, given)
}

// resume removes a switch. The main loop releases the calls that it has held.
func (c *control) resume(ctx workflow.Context, given switches.Change) {
	i := c.indexOf(given.What)
	if i < 0 {
		return
	}
	c.state.Switches = slices.Delete(c.state.Switches, i, i+1)
	c.resumed = switches.Release{By: given.By, Identity: given.Identity}
	c.mayRelease = true
	c.publish(ctx, switches.LogResumed, given)
}

func (c *control) indexOf(what switches.Target) int {
	return slices.IndexFunc(c.state.Switches, func(w switches.Switch) bool { return w.What == what })
}

// publish makes a change count: the memo is written with the workflow task that made it, before
// any call that it releases hears of it.
func (c *control) publish(ctx workflow.Context, log string, given switches.Change) {
	c.write(ctx)
	c.record(ctx, log, given)
	workflow.GetLogger(ctx).Info(log, "what", string(given.What), "by", given.By, "issuer", given.Identity.Issuer)
}

// write writes the state to the memo, where activities read it.
func (c *control) write(ctx workflow.Context) {
	if err := workflow.UpsertMemo(ctx, map[string]any{switches.MemoSwitches: c.state}); err != nil { // never: it can be encoded
		workflow.GetLogger(ctx).Error("upsert the memo", "error", err)
	}
	c.show(ctx)
}

func (c *control) show(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, wording.ControlDetails(c.state, c.problem))
}
