package record_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/recordtest"
)

// A conversation does not depend on where its messages and their values are stored.
func TestAConversationIsReadFromAnyPieces(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 3))
		states := recordtest.New(seed).Lasting()
		whole := states[r.IntN(len(states))].View
		store, pieces := recordtest.Store{}, whole
		var err error
		if pieces.Transcript, err = recordtest.Spread(r, store, whole.Transcript.Tail); err != nil {
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

// All pages together, from the newest to the oldest, are the whole conversation.
func TestPagesMakeTheWhole(t *testing.T) {
	pages := 0
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 4))
		view, store := recordtest.New(seed).Last().View, recordtest.Store{}
		for n := range view.Transcript.Tail {
			if r.IntN(3) == 0 {
				view.Transcript.Tail[n].Content = contract.Inline(strings.Repeat("x", r.IntN(document.PageSize)))
			}
		}
		want := rendered(t, nil, view).Messages
		var err error
		if view.Transcript, err = recordtest.Spread(r, store, view.Transcript.Tail); err != nil {
			t.Fatal(err)
		}
		got := []document.Message{}
		for first := len(want); first > 0; pages++ {
			page, err := document.RenderPage(t.Context(), store, view, first)
			if err != nil || len(page.Messages) != first-page.MessagesBefore || len(page.Messages) == 0 {
				t.Fatalf("seed %d: a page of the first %d: %d messages behind %d: %v", seed, first, len(page.Messages), page.MessagesBefore, err)
			}
			if data, _ := json.Marshal(page.Messages); len(data) > document.PageSize+len(page.Messages)+1 && len(page.Messages) > 1 {
				t.Fatalf("seed %d: a page has %d bytes", seed, len(data))
			}
			got, first = append(page.Messages, got...), page.MessagesBefore
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d: (-whole +pages):\n%s", seed, diff)
		}
	}
	if pages < 50 {
		t.Errorf("only %d pages", pages)
	}
}

// A file has what the rendered document has, whatever of it was encoded before.
func TestAnEncodedDocumentIsTheRenderedOne(t *testing.T) {
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 5))
		store := cache{recordtest.Store{}, map[string]any{}}
		for _, state := range recordtest.New(seed).Lasting() {
			view := state.View
			var err error
			if view.Transcript, err = recordtest.Spread(r, store.Store, view.Transcript.Tail); err != nil {
				t.Fatal(err)
			}
			want, err := json.MarshalIndent(rendered(t, store.Store, view), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time from the cache
				got, err := document.Encode(t.Context(), store, view)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want)+"\n", string(bytes.Join(got, nil))); diff != "" {
					t.Fatalf("seed %d: (-rendered +encoded):\n%s", seed, diff)
				}
			}
		}
	}
}

func TestADocumentWithALostMessageIsNotEncoded(t *testing.T) {
	view := recordtest.New(1).Last().View
	lost := contract.NewBlob([]byte("lost"))
	view.Transcript = contract.Transcript{Tail: []contract.Message{{ID: "m", Content: contract.Text{Blob: &lost}}}}
	if _, err := document.Encode(t.Context(), recordtest.Store{}, view); err == nil {
		t.Error("it was encoded")
	}
}

// cache is a transcript.Cache that never forgets.
type cache struct {
	recordtest.Store
	values map[string]any
}

func (c cache) Computed(b contract.Blob, kind string, compute func() (any, int, error)) (any, error) {
	key := kind + b.SHA256
	if v, ok := c.values[key]; ok {
		return v, nil
	}
	v, _, err := compute()
	if err == nil {
		c.values[key] = v
	}
	return v, err
}

func rendered(t *testing.T, s recordtest.Store, v contract.ConversationView) document.Conversation {
	t.Helper()
	d, err := document.Render(t.Context(), s, v)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
