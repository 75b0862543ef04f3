package switches_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract/switches"
)

func TestATargetHoldsTheCallsThatItNames(t *testing.T) {
	call := switches.Call{Agent: "helper", Server: "resources", Tool: "resources_add"}
	delegation := switches.Call{Agent: "helper", Peer: "billing", Tool: "ask_billing"}
	for target, want := range map[switches.Target][2]bool{
		"all": {true, true}, "agent:helper": {true, true}, "agent:billing": {false, true},
		"server:resources": {true, false}, "tool:resources_add": {true, false}, "tool:ask_billing": {false, true},
		"server:": {false, false}, "server:other": {false, false}, "helper": {false, false}, "": {false, false},
	} {
		if got := [2]bool{target.Holds(call), target.Holds(delegation)}; got != want {
			t.Errorf("%q holds %v, expected %v", target, got, want)
		}
	}
}

func TestATargetThatNoCallCanMatchIsRefused(t *testing.T) {
	for _, target := range []switches.Target{"all", "agent:a", "server:a b", "tool:a:b"} {
		if err := target.Check(); err != nil {
			t.Errorf("%q: %v", target, err)
		}
	}
	for _, target := range []switches.Target{"", "All", "agent", "agent:", "node:a", "tool:" + switches.Target(strings.Repeat("x", 201))} {
		if target.Check() == nil {
			t.Errorf("%q is accepted", target)
		}
	}
}

func TestTheOldestSwitchIsNamed(t *testing.T) {
	s := switches.State{Switches: []switches.Switch{{What: "tool:x", By: "a"}, {What: "all", By: "b"}}}
	if w, ok := s.Holding(switches.Call{Tool: "x"}); !ok || w.By != "a" {
		t.Errorf("%+v", w)
	}
	if w, ok := s.Holding(switches.Call{Tool: "y"}); !ok || w.By != "b" {
		t.Errorf("%+v", w)
	}
	if _, ok := (switches.State{}).Holding(switches.Call{}); ok {
		t.Error("a call is held without a switch")
	}
}
