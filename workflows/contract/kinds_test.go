package contract_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
)

func TestPermanentKindsAreThoseThatTryingAgainCannotHelp(t *testing.T) {
	want := []string{
		"model_auth", "model_bad_request", "model_context", "tool_failed", "peer_failed", "push_refused", "outcome_unknown", "arguments_digest", "grant_changed", "paused", "rate_limited",
		"invalid", "not_found",
	}
	if diff := cmp.Diff(want, contract.PermanentKinds()); diff != "" {
		t.Errorf("permanent kinds (-want +got):\n%s", diff)
	}
	for _, k := range want {
		if !contract.Kind(k).Permanent() {
			t.Errorf("%s is retried", k)
		}
	}
}

func TestKindsThatPassAreRetried(t *testing.T) {
	for _, k := range []contract.Kind{
		contract.KindModelRateLimited, contract.KindModelUnavailable, contract.KindModelGarbage, contract.KindToolUnavailable,
		contract.KindPeerUnavailable, contract.KindPushUnavailable, contract.KindBlob, contract.KindExport, contract.KindInternal, contract.KindTimeout, "",
	} {
		if k.Permanent() {
			t.Errorf("%q is not retried", k)
		}
	}
}

func TestPermanentKindsAreTheCallersToChange(t *testing.T) {
	contract.PermanentKinds()[0] = "changed"
	if contract.PermanentKinds()[0] == "changed" {
		t.Error("a caller changed the list for everybody")
	}
}

func TestRoundsHaveADefault(t *testing.T) {
	for rounds, want := range map[int]int{-1: 10, 0: 10, 1: 1, 25: 25} {
		if got := (contract.Node{MaxToolRounds: rounds}).Rounds(); got != want {
			t.Errorf("max_tool_rounds %d gives %d rounds, expected %d", rounds, got, want)
		}
	}
}

func TestIterationsHaveADefault(t *testing.T) {
	for iterations, want := range map[int]int{-1: 10, 0: 10, 1: 1, 200: 200} {
		if got := (contract.Node{MaxIterations: iterations}).Iterations(); got != want {
			t.Errorf("max_iterations %d gives %d iterations, expected %d", iterations, got, want)
		}
	}
}

func TestHashFollowsTheConfiguration(t *testing.T) {
	base := agent()
	if got := base.Hash(); got != agent().Hash() || len(got) != 12 {
		t.Errorf("hash %q: expected 12 digits, the same every time", got)
	}
	changed := map[string]func(*contract.Agent){
		"prompt":  func(a *contract.Agent) { a.Prompt = contract.Inline("other") },
		"model":   func(a *contract.Agent) { a.Model = contract.DemoModel },
		"timeout": func(a *contract.Agent) { a.ApprovalTimeout += time.Second },
		"mode":    func(a *contract.Agent) { a.Execution = contract.ExecutionRegular },
		"tree":    func(a *contract.Agent) { a.Tree.Nodes[0].Prompt = contract.Inline("other") },
		"peer":    func(a *contract.Agent) { a.Peers = nil },
	}
	for what, change := range changed {
		a := agent()
		change(&a)
		if a.Hash() == base.Hash() {
			t.Errorf("another %s has the same hash", what)
		}
	}
}

func TestUsageAdds(t *testing.T) {
	got := contract.Usage{InputTokens: 1, OutputTokens: 2, CachedTokens: 3}.Add(contract.Usage{InputTokens: 10, OutputTokens: 20, CachedTokens: 30})
	if want := (contract.Usage{InputTokens: 11, OutputTokens: 22, CachedTokens: 33}); got != want {
		t.Errorf("got %+v, expected %+v", got, want)
	}
}

func TestTranscriptCountsWhatIsElsewhereToo(t *testing.T) {
	of := func(tr contract.Transcript) contract.Message {
		return contract.Message{Segment: &contract.Segment{Transcript: &tr}}
	}
	two := []contract.Message{{}, {}}
	tests := map[string]struct {
		tr   contract.Transcript
		want int
	}{
		"nothing":                 {contract.Transcript{}, 0},
		"a tail":                  {contract.Transcript{Tail: two}, 2},
		"a head":                  {contract.Transcript{Head: head(), Tail: two}, 14},
		"a part":                  {contract.Transcript{Tail: []contract.Message{{}, of(contract.Transcript{Tail: two}), {}}}, 4},
		"a folded part":           {contract.Transcript{Head: head(), Tail: []contract.Message{of(contract.Transcript{Head: head(), Tail: two})}}, 26},
		"a part in a part":        {contract.Transcript{Tail: []contract.Message{of(contract.Transcript{Tail: []contract.Message{{}, of(contract.Transcript{Tail: two})}})}}, 3},
		"a part that still runs":  {contract.Transcript{Tail: []contract.Message{{Segment: &contract.Segment{Run: "r"}}, {}}}, 1},
		"a part without messages": {contract.Transcript{Tail: []contract.Message{of(contract.Transcript{}), {}}}, 1},
	}
	for name, tt := range tests {
		if got := tt.tr.Len(); got != tt.want {
			t.Errorf("%s: %d messages, expected %d", name, got, tt.want)
		}
	}
}
