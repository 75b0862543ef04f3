package contract_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
)

func TestPermanentKindsAreThoseThatTryingAgainCannotHelp(t *testing.T) {
	want := []string{
		"model_auth", "model_bad_request", "model_context", "tool_failed", "outcome_unknown", "arguments_digest",
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
		contract.KindBlob, contract.KindExport, contract.KindInternal, contract.KindTimeout, "",
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
		if got := (contract.Agent{MaxToolRounds: rounds}).Rounds(); got != want {
			t.Errorf("max_tool_rounds %d gives %d rounds, expected %d", rounds, got, want)
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
	tail := []contract.Message{{}, {}}
	if got := (contract.Transcript{Tail: tail}).Len(); got != 2 {
		t.Errorf("got %d", got)
	}
	if got := (contract.Transcript{Head: head(), Tail: tail}).Len(); got != 14 {
		t.Errorf("got %d", got)
	}
}
