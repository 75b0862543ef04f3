package transcript_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

const maxSegment = 1 << 20

func TestFoldingLosesNothing(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			store := newMemory()
			var all []contract.Message
			var tr contract.Transcript
			for range random.IntN(40) {
				for range random.IntN(6) {
					m := randomMessage(random, len(all))
					all, tr.Tail = append(all, m), append(tr.Tail, m)
				}
				tr = foldOnce(t, store, tr)
				if tr.Len() != len(all) {
					t.Fatalf("the transcript counts %d messages of %d", tr.Len(), len(all))
				}
			}
			if diff := cmp.Diff(all, load(t, store, tr)); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

// foldOnce offloads once and applies the result, as a workflow does.
func foldOnce(t testing.TB, store transcript.Store, tr contract.Transcript) contract.Transcript {
	t.Helper()
	folded, err := transcript.Offload(t.Context(), store, tr)
	if err != nil {
		t.Fatal(err)
	}
	if folded == nil {
		return tr
	}
	return contract.Transcript{Head: &folded.Head, Tail: tr.Tail[folded.Count:]}
}

func load(t testing.TB, store transcript.Store, tr contract.Transcript) []contract.Message {
	t.Helper()
	got, err := transcript.Load(t.Context(), store, tr)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func randomMessage(random *rand.Rand, i int) contract.Message {
	m := contract.Message{
		ID: contract.MessageID("c", i), Role: contract.RoleUser, Content: contract.Inline(randomText(random)),
		CreatedAt: time.Unix(int64(i), int64(i)).UTC(), Notice: random.IntN(2) == 0,
	}
	if random.IntN(3) == 0 {
		m.ToolCall = &contract.ToolCall{Name: "t", Arguments: contract.JSON{Raw: json.RawMessage(`{"a":[1,2.50]}`)}}
	}
	return m
}

func randomText(random *rand.Rand) string {
	return strings.Repeat(string(rune(' '+random.IntN(10_000))), random.IntN(700))
}

func sized(i, size int) contract.Message {
	return contract.Message{ID: fmt.Sprint(i), Content: contract.Inline(strings.Repeat("x", size))}
}

func TestChainIsShortWhateverTheSizes(t *testing.T) {
	sizes := map[string]func(i int) int{
		"equal":     func(int) int { return 3000 },
		"growing":   func(i int) int { return 2100 + i },
		"shrinking": func(i int) int { return 2700 - i },
		"sawtooth":  func(i int) int { return 4000 - 40*(i%40) },
		"random":    func(i int) int { return 2100 + int(contract.NameUUID("", fmt.Sprint(i))[0])*200 },
	}
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			const folds = 60 // together below the size limit of a chunk
			store := newMemory()
			var tr contract.Transcript
			for i := range folds {
				tr.Tail = append(tr.Tail, sized(i, size(i)))
				tr = foldOnce(t, store, tr)
				if i%10 > 1 {
					continue // every load reads all chunks
				}
				if n, limit := chainLength(t, store, tr), 1+bits.Len(uint(i+1)); n > limit {
					t.Fatalf("after %d folds the chain has %d segments, expected at most %d", i+1, n, limit)
				}
			}
			if got := load(t, store, tr); len(got) != folds {
				t.Errorf("loaded %d messages of %d", len(got), folds)
			}
		})
	}
}

// chainLength counts the reads of a load: one for each chunk.
func chainLength(t *testing.T, store *memory, tr contract.Transcript) int {
	t.Helper()
	counting := &counter{Store: store}
	load(t, counting, tr)
	return counting.gets
}

type counter struct {
	transcript.Store
	gets int
}

func (c *counter) Get(ctx context.Context, b contract.Blob) ([]byte, error) {
	c.gets++
	return c.Store.Get(ctx, b)
}

func TestEachMessageIsRewrittenFewTimes(t *testing.T) {
	store := newMemory()
	var tr contract.Transcript
	const folds, size = 128, 2500
	for i := range folds {
		tr.Tail = append(tr.Tail, sized(i, size))
		tr = foldOnce(t, store, tr)
	}
	if rewritten := store.written / (folds * size); rewritten > 10 {
		t.Errorf("every byte was written %d times", rewritten)
	}
}

func TestMergingStopsAtOneMebibyte(t *testing.T) {
	store := newMemory()
	var tr contract.Transcript
	for i := range 16 {
		tr.Tail = append(tr.Tail, sized(i, 100<<10))
		tr = foldOnce(t, store, tr)
	}
	if n := store.largest(); n > maxSegment {
		t.Errorf("merging made a segment of %d bytes", n)
	}
	if n := chainLength(t, store, tr); n > 8 {
		t.Errorf("1.6 MiB are in %d segments", n)
	}
}

func TestATailLargerThanASegmentIsFoldedWhole(t *testing.T) {
	store := newMemory()
	tr := foldOnce(t, store, contract.Transcript{Tail: []contract.Message{sized(1, 900<<10), sized(2, 900<<10)}})
	tr.Tail = append(tr.Tail, sized(3, 5000))
	tr = foldOnce(t, store, tr)
	if got := load(t, store, tr); len(got) != 3 || got[2].ID != "3" {
		t.Errorf("loaded %d messages", len(got))
	}
}

func TestFoldingTwiceGivesTheSameAddress(t *testing.T) {
	store := newMemory()
	tr := foldOnce(t, store, contract.Transcript{Tail: []contract.Message{sized(1, 9000)}})
	tr.Tail = []contract.Message{sized(2, 3000), sized(3, 3000)}
	first, err := transcript.Offload(t.Context(), store, tr)
	if err != nil {
		t.Fatal(err)
	}
	stored := len(store.values)
	second, err := transcript.Offload(t.Context(), store, tr)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("folds differ (-first +second):\n%s", diff)
	}
	if len(store.values) != stored {
		t.Errorf("the second fold stored %d new values", len(store.values)-stored)
	}
}

func TestFoldDoesNotChangeItsInput(t *testing.T) {
	store := newMemory()
	tr := foldOnce(t, store, contract.Transcript{Tail: []contract.Message{sized(1, 3000)}})
	tr.Tail = []contract.Message{sized(2, 9000), sized(3, 1)}
	before, _ := json.Marshal(tr)
	foldOnce(t, store, tr)
	if after, _ := json.Marshal(tr); string(after) != string(before) {
		t.Error("the transcript changed")
	}
}

func TestAShortTailStays(t *testing.T) {
	empty, err := json.Marshal([]contract.Message{sized(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	room := transcript.OffloadAbove - len(empty)
	tests := map[string]struct {
		tail []contract.Message
		fold bool
	}{
		"no tail":         {nil, false},
		"empty tail":      {[]contract.Message{}, false},
		"as much as fits": {[]contract.Message{sized(1, room)}, false},
		"one byte more":   {[]contract.Message{sized(1, room+1)}, true},
	}
	for name, tt := range tests {
		store := newMemory()
		folded, err := transcript.Offload(t.Context(), store, contract.Transcript{Tail: tt.tail})
		if err != nil || (folded != nil) != tt.fold || (store.puts > 0) != tt.fold {
			t.Errorf("%s: folded %+v with %d writes, %v", name, folded, store.puts, err)
		}
	}
}

func TestHeadHoldsNoTextOfTheConversation(t *testing.T) {
	tr := foldOnce(t, newMemory(), contract.Transcript{Tail: []contract.Message{sized(1, 9000)}})
	if tr.Head.Preview != "" {
		t.Errorf("preview %q", tr.Head.Preview)
	}
}

func TestTroubleOfTheStoreIsReported(t *testing.T) {
	store := newMemory()
	tr := foldOnce(t, store, contract.Transcript{Tail: []contract.Message{sized(1, 3000)}})
	tr.Tail = []contract.Message{sized(2, 3000)}

	full := fmt.Errorf("disk full")
	store.failPut = full
	if _, err := transcript.Offload(t.Context(), store, tr); !isErr(err, full) {
		t.Errorf("fold into a full store: %v", err)
	}
	store.failPut = nil

	key := tr.Head.SHA256
	store.values[key] = []byte("{broken")
	if _, err := transcript.Load(t.Context(), store, tr); err == nil || !strings.Contains(err.Error(), key) {
		t.Errorf("load of a corrupt segment: %v; expected an error that names it", err)
	}
	if _, err := transcript.Offload(t.Context(), store, tr); err == nil {
		t.Error("fold onto a corrupt segment succeeded")
	}
	delete(store.values, key)
	if _, err := transcript.Load(t.Context(), store, tr); !isErr(err, errNoBlob) {
		t.Errorf("load of a missing segment: %v", err)
	}
}

func FuzzFoldLoad(f *testing.F) {
	f.Add(uint64(1), []byte{1, 2, 3})
	f.Add(uint64(7), []byte{0, 0, 255, 4, 4, 4, 4})
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		if len(steps) > 100 {
			return
		}
		random := rand.New(rand.NewPCG(seed, 2))
		store := newMemory()
		var all []contract.Message
		var tr contract.Transcript
		for _, step := range steps {
			for range step % 8 {
				m := randomMessage(random, len(all))
				all, tr.Tail = append(all, m), append(tr.Tail, m)
			}
			tr = foldOnce(t, store, tr)
		}
		if diff := cmp.Diff(all, load(t, store, tr)); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	})
}

func TestBackwardReadsOnlyWhatItComesTo(t *testing.T) {
	store := newMemory()
	var v contract.Transcript
	oldest := ""
	for n, size := range []int{8000, 3000, 1000} { // each less than half of the previous one, so they are not merged
		v.Tail = []contract.Message{{ID: fmt.Sprint("m", n), Content: contract.Inline(strings.Repeat("x", size))}}
		folded, err := transcript.OffloadAll(t.Context(), store, v)
		if err != nil {
			t.Fatal(err)
		}
		if v = (contract.Transcript{Head: &folded.Head}); n == 0 {
			oldest = folded.Head.SHA256
		}
	}
	delete(store.values, oldest)
	v.Tail = []contract.Message{{ID: "m3"}}
	var got []string
	ids := transcript.Projection[[]string]{Of: func(messages []contract.Message) (ids []string, size int, err error) {
		for _, m := range messages {
			ids = append(ids, m.ID)
		}
		return ids, 0, nil
	}}
	for part, err := range ids.Backward(t.Context(), store, v) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, fmt.Sprint(part.Before, part.Value)); part.Before <= 1 {
			break
		}
	}
	if want := []string{"3 [m3]", "2 [m2]", "1 [m1]"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
