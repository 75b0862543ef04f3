package control

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/signal"
)

func (c *control) validateResume(_ workflow.Context, raw json.RawMessage) error {
	_, err := parse(raw)
	return refusal(contract.KindInvalid, err)
}

func (c *control) validatePause(_ workflow.Context, raw json.RawMessage) error {
	given, err := parse(raw)
	if err == nil && c.isFull(given) {
		return refusal(contract.KindBusy, errFull)
	}
	return refusal(contract.KindInvalid, err)
}

func refusal(kind contract.Kind, err error) error {
	if err == nil {
		return nil
	}
	return temporal.NewNonRetryableApplicationError(err.Error(), string(kind), nil)
}

var errFull = fmt.Errorf("there are %d switches already; pause all, or resume some first", switches.MaxSwitches)

func (c *control) isFull(given switches.Change) bool {
	return len(c.state.Switches) >= switches.MaxSwitches && given.What != switches.All && c.indexOf(given.What) < 0
}

func (c *control) updatePause(ctx workflow.Context, raw json.RawMessage) (switches.State, error) {
	given, err := parse(raw)
	if err == nil {
		c.pause(ctx, c.proven(ctx, switches.UpdatePause, raw, given))
	}
	return c.state, refusal(contract.KindInvalid, err)
}

func (c *control) updateResume(ctx workflow.Context, raw json.RawMessage) (switches.State, error) {
	given, err := parse(raw)
	if err == nil {
		c.resume(ctx, c.proven(ctx, switches.UpdateResume, raw, given))
	}
	return c.state, refusal(contract.KindInvalid, err)
}

// proven returns a change without an identity that is not proven. The change itself counts:
// whoever can send it to the workflow can also end the workflow.
func (c *control) proven(ctx workflow.Context, name string, raw json.RawMessage, given switches.Change) switches.Change {
	if given.Identity.Authenticated() && !c.proofs.Check(ctx, name, raw, given.Proof) {
		given.Identity = contract.Identity{}
	}
	return given
}

// drain takes all signals that have arrived.
func (c *control) drain(ctx workflow.Context) {
	for raw, ok := signal.Receive(c.resumes); ok; raw, ok = signal.Receive(c.resumes) {
		given, err := parse(raw)
		if c.note(ctx, err); err == nil {
			c.resume(ctx, c.proven(ctx, switches.SignalResume, raw, given))
		}
	}
	for raw, ok := signal.Receive(c.pauses); ok; raw, ok = signal.Receive(c.pauses) {
		given, err := parse(raw)
		if err == nil && c.isFull(given) {
			err = errFull
		}
		if c.note(ctx, err); err == nil {
			c.pause(ctx, c.proven(ctx, switches.SignalPause, raw, given))
		}
	}
	for raw, ok := signal.Receive(c.changes); ok; raw, ok = signal.Receive(c.changes) {
		given, err := c.readLimit(raw)
		if c.note(ctx, err); err == nil {
			c.change(ctx, c.provenLimit(ctx, switches.SignalLimit, raw, given))
		}
	}
	for raw, ok := signal.Receive(c.registrations); ok; raw, ok = signal.Receive(c.registrations) {
		var w switches.Wait
		if json.Unmarshal(raw, &w) == nil && contract.IsUUID(w.Approval) {
			c.add(w)
		}
	}
	for _, ok := signal.Receive(c.renewals); ok; _, ok = signal.Receive(c.renewals) {
		c.renew = true
	}
}

// parse reads a switches.Change, or a target alone.
func parse(raw json.RawMessage) (given switches.Change, err error) {
	if json.Unmarshal(raw, &given.What) != nil {
		given = switches.Change{}
		if json.Unmarshal(raw, &given) != nil {
			return given, errUnread
		}
	}
	return given, given.Check()
}

var errUnread = errors.New(`the input is "all", "agent:NAME", "server:NAME", "tool:NAME", or {"what":"all","reason":"…","by":"…"}`)

// note keeps why a signal is ignored, for the people who look whether it has helped.
func (c *control) note(ctx workflow.Context, err error) {
	was := c.problem
	if c.problem = ""; err != nil {
		c.problem = err.Error()
	}
	if was != c.problem {
		c.show(ctx)
	}
}
