package llm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/recordtest"
)

// Turns that have ended are sent to the model unchanged, and later ones follow them: a
// provider's cache ends at the first byte that differs.
func TestTheMessagesForAModelOnlyGrow(t *testing.T) {
	for seed := range uint64(100) {
		c := recordtest.New(seed)
		whole := llm.BuildTurns(c.Last().Messages, nil)
		for _, state := range c.Lasting() {
			if !state.Over() {
				continue
			}
			part := llm.BuildTurns(state.Messages, nil)
			if len(part) > len(whole) {
				t.Fatalf("seed %d: %d turns became %d", seed, len(part), len(whole))
			}
			if diff := cmp.Diff(whole[:len(part)], part, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d: (-in the end +at the time):\n%s", seed, diff)
			}
		}
	}
}

// Providers refuse a call without a result, and two calls with one ID.
func TestEveryCallSentToAModelHasAResult(t *testing.T) {
	for seed := range uint64(100) {
		for _, state := range recordtest.New(seed).Lasting() {
			for n, turn := range llm.BuildTurns(state.Messages, nil) {
				ids := map[string]bool{}
				for _, call := range turn.Calls {
					if call.ID == "" || ids[call.ID] || call.Result == "" || turn.Role != contract.RoleAssistant {
						t.Fatalf("seed %d, turn %d: %+v", seed, n, turn)
					}
					ids[call.ID] = true
				}
			}
		}
	}
}
