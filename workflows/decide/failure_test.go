package decide_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

func TestOnlyADestructiveCallHasAnUnknownOutcome(t *testing.T) {
	tests := map[string]struct {
		destructive bool
		f           wording.Failure
		want        bool
	}{
		"a destructive call that was lost":           {true, wording.Failure{Lost: true}, true},
		"a destructive call whose answer was lost":   {true, wording.Failure{Kind: contract.KindOutcomeUnknown}, true},
		"a destructive call that never went out":     {true, wording.Failure{Kind: contract.KindToolUnavailable}, false},
		"a destructive call that the server refused": {true, wording.Failure{Kind: contract.KindToolFailed}, false},
		"a destructive call with another digest":     {true, wording.Failure{Kind: contract.KindDigest}, false},
		"a read-only call that was lost":             {false, wording.Failure{Lost: true}, false},
		"a read-only call whose answer was lost":     {false, wording.Failure{Kind: contract.KindOutcomeUnknown}, false},
	}
	for name, tt := range tests {
		if got := decide.OutcomeUnknown(contract.Call{Destructive: tt.destructive}, tt.f); got != tt.want {
			t.Errorf("%s: unknown is %t, expected %t", name, got, tt.want)
		}
	}
}

func TestOnlyAKindThatAnActivityGivesExplainsAFailure(t *testing.T) {
	for kind, want := range map[contract.Kind]bool{
		contract.KindToolFailed: false, contract.KindToolUnavailable: false, contract.KindPeerFailed: false, contract.KindDigest: false,
		contract.KindBlob: false, contract.KindInternal: true, contract.KindOutcomeUnknown: true, "payloadSizeError": true, "": true,
	} {
		if got := decide.Unexplained(wording.Failure{Kind: kind}); got != want {
			t.Errorf("%q: got %v", kind, got)
		}
	}
}
