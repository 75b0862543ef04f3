package decide_test

import (
	"testing"

	"agent-stop-and-go/workflows/decide"
)

func TestARunRollsOverWhenItIsLong(t *testing.T) {
	tests := map[string]struct {
		h    decide.History
		want bool
	}{
		"a new run":               {decide.History{}, false},
		"just below every limit":  {decide.History{Events: 7_999, Bytes: 2<<20 - 1, Updates: 999}, false},
		"many events":             {decide.History{Events: 8_000}, true},
		"many bytes":              {decide.History{Bytes: 2 << 20}, true},
		"many updates":            {decide.History{Updates: 1_000}, true},
		"as the server suggested": {decide.History{Suggested: true}, true},
	}
	for name, tt := range tests {
		if got := decide.RollOver(tt.h); got != tt.want {
			t.Errorf("%s: %t, expected %t", name, got, tt.want)
		}
	}
}

func TestNodesRollOverSoonerThanConversations(t *testing.T) {
	for name, tt := range map[string]struct {
		h    decide.History
		node bool
		run  bool
	}{
		"short":            {decide.History{Events: 999, Bytes: 2<<20 - 1}, false, false},
		"a thousand":       {decide.History{Events: 1_000}, true, false},
		"long":             {decide.History{Events: 8_000}, true, true},
		"large":            {decide.History{Bytes: 2 << 20}, true, true},
		"server suggests":  {decide.History{Suggested: true}, true, true},
		"updates of a run": {decide.History{Updates: 1_000}, true, true},
	} {
		equal(t, name+", node", decide.RollOverNode(tt.h), tt.node)
		equal(t, name+", conversation", decide.RollOver(tt.h), tt.run)
	}
}
