package hook_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway/a2a/hook"
	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/recordtest"
)

// conversation serves a single conversation.
type conversation contract.ConversationView

func (c conversation) Conversation(context.Context, string, string) (contract.ConversationView, error) {
	return contract.ConversationView(c), nil
}

// A web hook receives the same task as other readers, even if parts of the conversation are
// in the blob store.
func TestAWebHookGetsTheTask(t *testing.T) {
	agent := contract.Agent{Name: "helper"}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 5))
		store := recordtest.Store{}
		for _, state := range recordtest.NewTask(seed).Lasting() {
			want, err := protocol.Notification(protocol.V10, task.NewSource(state, agent, "http://gateway").Task(task.Shape{}))
			if err != nil {
				t.Fatal(err)
			}
			view := state.View
			if view.Transcript, err = recordtest.Spread(r, store, state.Messages); err != nil {
				t.Fatal(err)
			}
			reader := hook.Reader{Conversations: conversation(view), Blobs: store, Agent: agent, PublicURL: "http://gateway"}
			got, err := reader.Task(t.Context(), recordtest.ID, "")
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if diff := cmp.Diff(decoded(t, want), decoded(t, got)); diff != "" {
				t.Fatalf("seed %d: (-the task +the hook):\n%s", seed, diff)
			}
		}
	}
}

func decoded(t *testing.T, raw json.RawMessage) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
