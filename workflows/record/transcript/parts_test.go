package transcript_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

func part(tr contract.Transcript) contract.Message {
	return contract.Message{Segment: &contract.Segment{Run: "run", Transcript: &tr}}
}

func running() contract.Message { return contract.Message{Segment: &contract.Segment{Run: "run"}} }

func tail(messages ...contract.Message) contract.Transcript {
	return contract.Transcript{Tail: messages}
}

func ids(messages []contract.Message) string {
	var out []string
	for _, m := range messages {
		out = append(out, m.ID)
	}
	return strings.Join(out, " ")
}

func TestMessagesOfPartsStandInTheirPlace(t *testing.T) {
	one := func(i int) contract.Message { return sized(i, 1) }
	tests := map[string]struct {
		tr   contract.Transcript
		want string
	}{
		"between others":    {tail(one(1), part(tail(one(2), one(3))), one(4)), "1 2 3 4"},
		"nothing else":      {tail(part(tail(one(1)))), "1"},
		"side by side":      {tail(part(tail(one(1))), part(tail(one(2)))), "1 2"},
		"inside each other": {tail(part(tail(one(1), part(tail(part(tail(one(2))), one(3)))))), "1 2 3"},
		"empty":             {tail(one(1), part(tail()), one(2)), "1 2"},
		"still running":     {tail(one(1), running(), part(tail(running(), one(2)))), "1 2"},
		"nothing at all":    {tail(running(), part(tail())), ""},
	}
	for name, tt := range tests {
		got := load(t, newMemory(), tt.tr)
		if ids(got) != tt.want {
			t.Errorf("%s: loaded %q, expected %q", name, ids(got), tt.want)
		}
		if tt.tr.Len() != len(got) {
			t.Errorf("%s: counted %d messages, loaded %d", name, tt.tr.Len(), len(got))
		}
	}
}

func TestAFoldOfPartsCountsEntriesAndItsHeadMessages(t *testing.T) {
	store := newMemory()
	inner := foldOnce(t, store, tail(sized(1, 3000), sized(2, 10)))
	inner.Tail = append(inner.Tail, sized(3, 10))
	outer := tail(sized(0, 10), part(inner), sized(4, 3000))
	folded, err := transcript.Offload(t.Context(), store, outer)
	if err != nil || folded == nil {
		t.Fatalf("folded %v, %v", folded, err)
	}
	if folded.Count != 3 || folded.Head.Count != 5 {
		t.Errorf("folded %d entries to %d messages, expected 3 and 5", folded.Count, folded.Head.Count)
	}
	if got := ids(load(t, store, contract.Transcript{Head: &folded.Head})); got != "0 1 2 3 4" {
		t.Errorf("loaded %q", got)
	}
}

// Each of these chunks is merged with the previous one.
func TestSegmentsWithPartsMerge(t *testing.T) {
	store := newMemory()
	var tr contract.Transcript
	var want []contract.Message
	for i := range 20 {
		a, b := sized(2*i, 1200), sized(2*i+1, 1200)
		want = append(want, a, b)
		tr.Tail = append(tr.Tail, part(tail(a, part(tail(b)))))
		tr = foldOnce(t, store, tr)
		if tr.Len() != len(want) {
			t.Fatalf("the transcript counts %d messages of %d", tr.Len(), len(want))
		}
	}
	if diff := cmp.Diff(want, load(t, store, tr)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if n := chainLength(t, store, tr); n > 5 {
		t.Errorf("20 folds left %d segments", n)
	}
}

func TestAPartWithoutATranscriptIsFoldedAsAnEntryWithoutMessages(t *testing.T) {
	store := newMemory()
	before := tail(sized(1, 3000), running(), part(tail(running())), sized(2, 10))
	folded, err := transcript.Offload(t.Context(), store, before)
	if err != nil || folded == nil {
		t.Fatalf("folded %v, %v", folded, err)
	}
	if folded.Count != 4 || folded.Head.Count != 2 {
		t.Errorf("folded %d entries to %d messages, expected 4 and 2", folded.Count, folded.Head.Count)
	}
	if got := ids(load(t, store, contract.Transcript{Head: &folded.Head})); got != "1 2" {
		t.Errorf("loaded %q", got)
	}
}

func nested(depth int) contract.Transcript {
	tr := tail(sized(1, 1))
	for range depth {
		tr = tail(part(tr))
	}
	return tr
}

func TestPartsAreNestedOnlySoDeep(t *testing.T) {
	if got := load(t, newMemory(), nested(transcript.MaxDepth)); len(got) != 1 {
		t.Errorf("loaded %d messages", len(got))
	}
	if _, err := transcript.Load(t.Context(), newMemory(), nested(transcript.MaxDepth+1)); !errors.Is(err, transcript.ErrTooDeep) {
		t.Errorf("one level more: %v", err)
	}
}

func TestTroubleWithAPartIsReported(t *testing.T) {
	store := newMemory()
	inner := foldOnce(t, store, tail(sized(1, 3000)))
	delete(store.values, inner.Head.SHA256)
	if _, err := transcript.Load(t.Context(), store, tail(part(inner))); !isErr(err, errNoBlob) {
		t.Errorf("load of a part whose segment is missing: %v", err)
	}
}

// forest makes random transcripts, and keeps their messages.
type forest struct {
	t      *testing.T
	random *rand.Rand
	store  *memory
	all    []contract.Message
}

func (f *forest) grow(depth int) contract.Transcript {
	var tr contract.Transcript
	for range f.random.IntN(8) {
		switch n := f.random.IntN(10); {
		case n < 3 && depth > 0:
			tr.Tail = append(tr.Tail, part(f.grow(depth-1)))
		case n == 3:
			tr.Tail = append(tr.Tail, part(tail()), running())
		case n == 4:
			tr = foldOnce(f.t, f.store, tr)
		default:
			m := randomMessage(f.random, len(f.all))
			f.all, tr.Tail = append(f.all, m), append(tr.Tail, m)
		}
	}
	return tr
}

func TestFoldingATreeAnywhereChangesNothing(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := &forest{t: t, random: rand.New(rand.NewPCG(seed, 3)), store: newMemory()}
			tr := f.grow(5)
			if tr.Len() != len(f.all) {
				t.Errorf("the transcript counts %d messages of %d", tr.Len(), len(f.all))
			}
			if diff := cmp.Diff(f.all, load(t, f.store, roundTrip(t, tr))); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

// roundTrip encodes and decodes a transcript.
func roundTrip(t *testing.T, tr contract.Transcript) contract.Transcript {
	t.Helper()
	data, err := json.Marshal(tr)
	if err != nil {
		t.Fatal(err)
	}
	var out contract.Transcript
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
