package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

// long returns a conversation whose messages are half a page each, each in its own segment.
func long(t *testing.T, store memory, messages int) contract.ConversationView {
	t.Helper()
	v := conversation()
	v.Transcript = contract.Transcript{}
	for n := range messages {
		v.Transcript.Tail = []contract.Message{{ID: fmt.Sprint("m", n), Content: contract.Inline(strings.Repeat("x", document.PageSize*2/5))}}
		folded, err := transcript.OffloadAll(t.Context(), store, v.Transcript)
		if err != nil {
			t.Fatal(err)
		}
		v.Transcript = contract.Transcript{Head: &folded.Head}
	}
	return v
}

func pageOf(t *testing.T, store memory, v contract.ConversationView, first int) (ids string, before int) {
	t.Helper()
	d, err := document.RenderPage(t.Context(), store, v, first)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := document.Render(t.Context(), store, v)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Page(first); !cmp.Equal(d, whole) {
		t.Errorf("of the first %d: the page of the document is another", first)
	}
	for _, m := range d.Messages {
		ids += m.ID + " "
	}
	return strings.TrimSpace(ids), d.MessagesBefore
}

func TestAPageHasTheNewestMessages(t *testing.T) {
	store := memory{}
	v := long(t, store, 5)
	for first, want := range map[int]struct {
		ids    string
		before int
	}{0: {"m3 m4", 3}, -1: {"m3 m4", 3}, 9: {"m3 m4", 3}, 5: {"m3 m4", 3}, 3: {"m1 m2", 1}, 1: {"m0", 0}} {
		if ids, before := pageOf(t, store, v, first); ids != want.ids || before != want.before {
			t.Errorf("of the first %d: %s behind %d, expected %s behind %d", first, ids, before, want.ids, want.before)
		}
	}
}

func TestAMessageThatIsLargerThanAPageIsOne(t *testing.T) {
	v := conversation()
	v.Transcript = contract.Transcript{Tail: []contract.Message{
		{ID: "m0"}, {ID: "m1", Content: contract.Inline(strings.Repeat("x", 2*document.PageSize))},
	}}
	if ids, before := pageOf(t, memory{}, v, 0); ids != "m1" || before != 1 {
		t.Errorf("%s behind %d", ids, before)
	}
}

func TestAShortConversationIsOnePage(t *testing.T) {
	want, err := document.Render(t.Context(), memory{}, conversation())
	if err != nil {
		t.Fatal(err)
	}
	got, err := document.RenderPage(t.Context(), memory{}, conversation(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-whole +page):\n%s", diff)
	}
}

func TestAPageOfALostTranscriptIsWhatCanBeRead(t *testing.T) {
	v := long(t, memory{}, 2)
	v.Transcript.Tail = []contract.Message{{ID: "m2"}}
	d, err := document.RenderPage(t.Context(), memory{}, v, 0)
	if !errors.Is(err, errNoBlob) || len(d.Messages) != 1 || d.Messages[0].ID != "m2" {
		t.Errorf("%v, %+v", err, d.Messages)
	}
}
