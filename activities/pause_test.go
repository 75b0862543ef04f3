package activities_test

import (
	"context"
	"errors"
	"testing"

	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/switches"
)

// board is the switches that are set, or an error.
type board struct {
	target switches.Target
	err    error
	asked  []switches.Call
}

func (b *board) Holding(_ context.Context, c switches.Call) (switches.Switch, bool, error) {
	b.asked = append(b.asked, c)
	w := switches.Switch{What: b.target, By: "ops"}
	return w, b.err == nil && b.target.Holds(c), b.err
}

func TestASwitchPausesDestructiveCallsOnly(t *testing.T) {
	for name, tc := range map[string]struct {
		board   board
		kind    contract.Kind // of the failure, "" if the call is made
		retried bool
	}{
		"no switch":                   {},
		"another tool":                {board: board{target: "tool:other"}},
		"the tool":                    {board: board{target: "tool:resources_add"}, kind: contract.KindPaused},
		"the server":                  {board: board{target: "server:resources"}, kind: contract.KindPaused},
		"the agent":                   {board: board{target: "agent:helper"}, kind: contract.KindPaused},
		"everything":                  {board: board{target: switches.All}, kind: contract.KindPaused},
		"a name in other letters":     {board: board{target: "agent:HELPER"}},
		"switches that are not known": {board: board{err: errors.New("Temporal is away")}, kind: contract.KindToolUnavailable, retried: true},
	} {
		t.Run(name, func(t *testing.T) {
			sent := 0
			a := tools(t, func(context.Context, toolbox.Call) (toolbox.Result, error) {
				sent++
				return toolbox.Result{Text: "done"}, nil
			})
			held := &claims{holders: map[string]string{}}
			a.Switches, a.Claims = &tc.board, held
			in := calling(t, `{"name":"x"}`, true)
			in.Agent, in.Server, in.Tool = "helper", "resources", "resources_add"
			_, err := run(t, t.Context(), a.CallTool, in)
			if tc.kind == "" && err != nil || tc.kind != "" && err == nil {
				t.Fatalf("got %v, want %q", err, tc.kind)
			}
			if tc.kind != "" {
				app := failedAs(t, err, tc.kind, tc.retried)
				var u audit.Unsent
				if tc.retried && (app.Details(&u) != nil || !u.Unsent) {
					t.Error("the failure does not say that nothing was sent")
				}
			}
			if want := tc.kind == ""; want != (sent == 1) || want != (len(held.holders) == 1) {
				t.Errorf("sent %d times, %d claims", sent, len(held.holders))
			}
			in.Destructive = false
			if _, err := run(t, t.Context(), a.CallTool, in); err != nil || len(tc.board.asked) != 1 {
				t.Errorf("a call that changes nothing: %v, asked %v", err, tc.board.asked)
			}
		})
	}
}

// An agent that a message goes to is held like the one that sends it. A rejection and a cancel
// go through: they start nothing.
func TestASwitchPausesDestructiveMessages(t *testing.T) {
	in := delegating(t, `{"message":"wipe it"}`)
	in.Destructive, in.Chain = true, []string{"first", "helper"}
	for target, held := range map[switches.Target]bool{
		"agent:helper": true, switches.Target("agent:" + in.Peer.Name): true, switches.Target("tool:" + in.Peer.Tool()): true,
		"agent:first": false, switches.Target("server:" + in.Peer.Name): false,
	} {
		p := peers(t, saying(peer.Reply{State: contract.TaskCompleted, Text: "done"}, nil))
		p.Switches, p.Claims = &board{target: target}, &claims{holders: map[string]string{}}
		_, err := run(t, t.Context(), p.Delegate, in)
		if held {
			failedAs(t, err, contract.KindPaused, false)
		} else if err != nil {
			t.Errorf("%s: %v", target, err)
		}
		for _, change := range []func(*contract.DelegateInput){
			func(d *contract.DelegateInput) { d.Decision = contract.Rejected; d.MessageID += "-1" },
			func(d *contract.DelegateInput) { d.Destructive = false },
		} {
			other := in
			change(&other)
			if _, err := run(t, t.Context(), p.Delegate, other); err != nil {
				t.Errorf("%s: %v", target, err)
			}
		}
	}
}
