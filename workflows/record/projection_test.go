package record_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/recordtest"
)

// A conversation is the same wherever its messages and their values are.
func TestAConversationIsReadFromAnyPieces(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 3))
		states := recordtest.New(seed).Lasting()
		whole := states[r.IntN(len(states))].View
		store, pieces := recordtest.Store{}, whole
		var err error
		if pieces.Transcript, err = recordtest.Fold(r, store, whole.Transcript.Tail); err != nil {
			t.Fatal(err)
		}
		want, err := record.Load(t.Context(), nil, whole, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := record.Load(t.Context(), store, pieces, nil)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(want.Messages, got.Messages); diff != "" {
			t.Fatalf("seed %d: messages (-whole +pieces):\n%s", seed, diff)
		}
		if diff := cmp.Diff(rendered(t, nil, whole), rendered(t, store, pieces)); diff != "" {
			t.Fatalf("seed %d: documents (-whole +pieces):\n%s", seed, diff)
		}
	}
}

func rendered(t *testing.T, s recordtest.Store, v contract.ConversationView) document.Conversation {
	t.Helper()
	d, err := document.Render(t.Context(), s, v)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
