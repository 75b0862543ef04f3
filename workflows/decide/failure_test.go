package decide_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

func TestAFailedModelIsReportedInTheConversation(t *testing.T) {
	tests := map[string]struct {
		f    decide.Failure
		want string
	}{
		"that says why": {decide.Failure{Kind: contract.KindModelAuth, Message: "the key was refused"}, "LLM error: the key was refused"},
		"that was lost": {decide.Failure{Lost: true, Message: "deadline"}, "LLM error: the model did not answer in time."},
	}
	for name, tt := range tests {
		if got := decide.ModelFailure(tt.f); got != tt.want {
			t.Errorf("a model %s: %q, expected %q", name, got, tt.want)
		}
	}
}

func TestAFailedToolIsAResultForTheModel(t *testing.T) {
	tests := map[string]struct {
		f    decide.Failure
		want string
	}{
		"that says why": {decide.Failure{Kind: contract.KindToolUnavailable, Message: "connection refused"}, "Tool execution failed: connection refused"},
		"that was lost": {decide.Failure{Lost: true, Message: "deadline"}, "Tool execution failed: no answer in time."},
	}
	for name, tt := range tests {
		if diff := cmp.Diff(failed(tt.want), decide.ToolFailure(tt.f)); diff != "" {
			t.Errorf("a tool %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestOnlyADestructiveCallHasAnUnknownOutcome(t *testing.T) {
	tests := map[string]struct {
		destructive bool
		f           decide.Failure
		want        bool
	}{
		"a destructive call that was lost":           {true, decide.Failure{Lost: true}, true},
		"a destructive call whose answer was lost":   {true, decide.Failure{Kind: contract.KindOutcomeUnknown}, true},
		"a destructive call that never went out":     {true, decide.Failure{Kind: contract.KindToolUnavailable}, false},
		"a destructive call that the server refused": {true, decide.Failure{Kind: contract.KindToolFailed}, false},
		"a destructive call with another digest":     {true, decide.Failure{Kind: contract.KindDigest}, false},
		"a read-only call that was lost":             {false, decide.Failure{Lost: true}, false},
		"a read-only call whose answer was lost":     {false, decide.Failure{Kind: contract.KindOutcomeUnknown}, false},
	}
	for name, tt := range tests {
		if got := decide.OutcomeUnknown(contract.Call{Destructive: tt.destructive}, tt.f); got != tt.want {
			t.Errorf("%s: unknown is %t, expected %t", name, got, tt.want)
		}
	}
}

func TestAnUnknownOutcomeIsToldToTheModel(t *testing.T) {
	want := failed("Outcome unknown: the call was sent and its answer was lost (worker died). It was not repeated.")
	if diff := cmp.Diff(want, decide.UnknownResult("worker died", contract.ApprovalResult{})); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	want = failed(want.Text.Inline + " Reason (alice): the ledger is closed")
	rejected := contract.ApprovalResult{Decision: contract.Rejected, By: "alice", Reason: "the ledger is closed"}
	if diff := cmp.Diff(want, decide.UnknownResult("worker died", rejected)); diff != "" {
		t.Errorf("with a reason (-want +got):\n%s", diff)
	}
}

func TestTheModelIsToldThatACallDidRun(t *testing.T) {
	ran := func(by, content string) contract.ApprovalResult {
		return contract.ApprovalResult{Decision: contract.Approved, By: by, Content: contract.JSON{Raw: []byte(content)}}
	}
	for want, r := range map[string]contract.ApprovalResult{
		"The call was made and its answer was lost (worker died). alice says that it did run and returned:\n\n17 rows":           ran("alice", `{"outcome":"ran","result":"17 rows"}`),
		"The call was made and its answer was lost (worker died). A person says that it did run; what it returned is not known.": ran("", `{"outcome":"ran"}`),
	} {
		if got := decide.RanResult("worker died", r); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

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

func TestOnlyAKindThatAnActivityGivesExplainsAFailure(t *testing.T) {
	for kind, want := range map[contract.Kind]bool{
		contract.KindToolFailed: false, contract.KindToolUnavailable: false, contract.KindPeerFailed: false, contract.KindDigest: false,
		contract.KindBlob: false, contract.KindInternal: true, contract.KindOutcomeUnknown: true, "payloadSizeError": true, "": true,
	} {
		if got := decide.Unexplained(decide.Failure{Kind: kind}); got != want {
			t.Errorf("%q: got %v", kind, got)
		}
	}
}
