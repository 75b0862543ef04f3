package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// claims is an activities.Claims.
type claims struct {
	holders  map[string]string
	claimErr error
}

func (c *claims) Claim(_ context.Context, name, owner string) (string, error) {
	if c.claimErr != nil {
		return "", c.claimErr
	}
	if _, ok := c.holders[name]; !ok {
		c.holders[name] = owner
	}
	return c.holders[name], nil
}

func (c *claims) Release(_ context.Context, name string) error {
	delete(c.holders, name)
	return nil
}

// of gives all claims to another run.
func (c *claims) of(t *testing.T, run string) { c.set(t, "run", run) }

// set changes a field of all claims.
func (c *claims) set(t *testing.T, field string, value any) {
	t.Helper()
	for name, holder := range c.holders {
		var fields map[string]any
		if err := json.Unmarshal([]byte(holder), &fields); err != nil {
			t.Fatal(err)
		}
		fields[field] = value
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		c.holders[name] = string(raw)
	}
}

// A run that was reset does not know its earlier calls. The claims do.
func TestADestructiveCallIsSentByOneRun(t *testing.T) {
	sent := 0
	a := tools(t, func(context.Context, toolbox.Call) (toolbox.Result, error) {
		sent++
		return toolbox.Result{Text: "done"}, nil
	})
	held := &claims{holders: map[string]string{}}
	a.Claims = held
	in := calling(t, `{"name":"x"}`, true)
	if _, err := run(t, t.Context(), a.CallTool, in); err != nil {
		t.Fatal(err)
	}
	held.of(t, "run-before-the-reset")
	_, err := run(t, t.Context(), a.CallTool, in)
	app := failedAs(t, err, contract.KindOutcomeUnknown, false)
	if sent != 1 || !strings.Contains(app.Message(), "was sent before, at 2026-03-14 12:00:00 UTC, by a run of this conversation that has been reset") {
		t.Errorf("sent %d times: %s", sent, app.Message())
	}
	named := in
	named.IdempotencyKey, named.Claim = "another key", "key-1" // keys may depend on earlier turns
	_, err = run(t, t.Context(), a.CallTool, named)
	failedAs(t, err, contract.KindOutcomeUnknown, false)
	again, other := in, calling(t, `{"name":"y"}`, true)
	again.Grant = "a person's"
	for _, in := range []contract.CallToolInput{again, other, calling(t, `{"name":"x"}`, false)} {
		if _, err := run(t, t.Context(), a.CallTool, in); err != nil {
			t.Errorf("%+v: %v", in, err)
		}
	}
	held.of(t, "run-before-the-reset")
	_, err = run(t, t.Context(), a.CallTool, again)
	failedAs(t, err, contract.KindOutcomeUnknown, false)
}

// A history that was restored from a backup, or that a power cut has shortened, does not know the
// last calls of its run.
func TestARunThatHasLostItsEndDoesNotRepeatACall(t *testing.T) {
	sent := 0
	a := tools(t, func(context.Context, toolbox.Call) (toolbox.Result, error) {
		sent++
		return toolbox.Result{Text: "done"}, nil
	})
	held := &claims{holders: map[string]string{}}
	a.Claims = held
	in := calling(t, `{"name":"x"}`, true)
	if _, err := run(t, t.Context(), a.CallTool, in); err != nil {
		t.Fatal(err)
	}
	held.set(t, "at", "2026-03-01T00:00:00Z")
	_, err := run(t, t.Context(), a.CallTool, in)
	if app := failedAs(t, err, contract.KindOutcomeUnknown, false); sent != 1 || !strings.Contains(app.Message(), "by this run, whose history does not have it") {
		t.Errorf("sent %d times: %s", sent, app.Message())
	}
	held.set(t, "attempt", 0) // of an earlier attempt, or of an earlier version
	if _, err := run(t, t.Context(), a.CallTool, in); err != nil || sent != 2 {
		t.Errorf("a later attempt: %v", err)
	}
}

func TestACallWithoutAnEffectGivesItsClaimBack(t *testing.T) {
	for kind, kept := range map[contract.Kind]bool{
		contract.KindToolUnavailable: false, contract.KindToolFailed: false, contract.KindOutcomeUnknown: true, contract.KindInternal: true,
	} {
		broken := &toolbox.Error{Kind: kind, Server: "resources", Tool: "add", Err: errors.New("broken")}
		a := tools(t, answering(toolbox.Result{}, broken))
		held := &claims{holders: map[string]string{}}
		a.Claims = held
		if _, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, true)); err == nil || len(held.holders) > 0 != kept {
			t.Errorf("%s: %v, claims %v", kind, err, slices.Collect(maps.Keys(held.holders)))
		}
	}
}

func TestACallThatWantsALoginGivesItsClaimBack(t *testing.T) {
	a := tools(t, answering(toolbox.Result{Text: "log in", IsError: true, AuthRequired: "web"}, nil))
	held := &claims{holders: map[string]string{}}
	a.Claims = held
	if _, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, true)); err != nil || len(held.holders) > 0 {
		t.Errorf("%v, claims %v", err, held.holders)
	}
}

func TestAClaimThatCannotBeReadLeavesTheCallInDoubt(t *testing.T) {
	for _, holder := range []string{"", "{", "null "} {
		a := tools(t, answering(toolbox.Result{}, nil))
		a.Claims = claimedBy(holder)
		_, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, true))
		app := failedAs(t, err, contract.KindOutcomeUnknown, false)
		if strings.Contains(app.Message(), "0001") || strings.Contains(app.Message(), "()") {
			t.Errorf("%q: %s", holder, app.Message())
		}
	}
}

// claimedBy is a Claims in which one run holds all names.
type claimedBy string

func (c claimedBy) Claim(context.Context, string, string) (string, error) { return string(c), nil }

func (c claimedBy) Release(context.Context, string) error { return nil }

func TestACallThatCannotBeNotedIsNotSent(t *testing.T) {
	a := tools(t, func(context.Context, toolbox.Call) (toolbox.Result, error) {
		t.Error("sent")
		return toolbox.Result{}, nil
	})
	a.Claims = &claims{claimErr: errStore}
	_, err := run(t, t.Context(), a.CallTool, calling(t, `{}`, true))
	failedAs(t, err, contract.KindToolUnavailable, true)
}

func TestADestructiveMessageIsSentByOneRun(t *testing.T) {
	held := &claims{holders: map[string]string{}}
	p := peers(t, saying(peer.Reply{State: contract.TaskCompleted, Text: "done"}, nil))
	p.Claims = held
	in := delegating(t, `{"message":"wipe it"}`)
	in.Destructive = true
	if _, err := run(t, t.Context(), p.Delegate, in); err != nil {
		t.Fatal(err)
	}
	held.of(t, "run-before-the-reset")
	_, err := run(t, t.Context(), p.Delegate, in)
	failedAs(t, err, contract.KindOutcomeUnknown, false)
	in.Destructive = false
	if _, err := run(t, t.Context(), p.Delegate, in); err != nil {
		t.Error(err)
	}
}
