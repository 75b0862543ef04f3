package wording_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

func TestAFailedModelIsReportedInTheConversation(t *testing.T) {
	tests := map[string]struct {
		f    wording.Failure
		want string
	}{
		"that says why": {wording.Failure{Kind: contract.KindModelAuth, Message: "the key was refused"}, "LLM error: the key was refused"},
		"that was lost": {wording.Failure{Lost: true, Message: "deadline"}, "LLM error: the model did not answer in time."},
	}
	for name, tt := range tests {
		if got := wording.ModelFailure(tt.f); got != tt.want {
			t.Errorf("a model %s: %q, expected %q", name, got, tt.want)
		}
	}
}

func TestAFailedToolIsAResultForTheModel(t *testing.T) {
	tests := map[string]struct {
		f    wording.Failure
		want string
	}{
		"that says why": {wording.Failure{Kind: contract.KindToolUnavailable, Message: "connection refused"}, "Tool execution failed: connection refused"},
		"that was lost": {wording.Failure{Lost: true, Message: "deadline"}, "Tool execution failed: no answer in time."},
	}
	for name, tt := range tests {
		if diff := cmp.Diff(failed(tt.want), wording.ToolFailure(tt.f)); diff != "" {
			t.Errorf("a tool %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnUnknownOutcomeIsToldToTheModel(t *testing.T) {
	want := failed("Outcome unknown: the call was sent and its answer was lost (worker died). It was not repeated.")
	if diff := cmp.Diff(want, wording.UnknownResult("worker died", contract.ApprovalResult{})); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	want = failed(want.Text.Inline + " Reason (alice): the ledger is closed")
	rejected := contract.ApprovalResult{Decision: contract.Rejected, By: "alice", Reason: "the ledger is closed"}
	if diff := cmp.Diff(want, wording.UnknownResult("worker died", rejected)); diff != "" {
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
		if got := wording.RanResult("worker died", r); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
