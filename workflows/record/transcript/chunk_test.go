package transcript_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// cache is a transcript.Cache that never forgets.
type cache struct {
	*memory
	values *sync.Map
}

func (c cache) Computed(b contract.Blob, kind string, compute func() (any, int, error)) (any, error) {
	key := fmt.Sprint(b.SHA256, b.Size, kind)
	if v, ok := c.values.Load(key); ok {
		return v, nil
	}
	v, _, err := compute()
	if err == nil {
		c.values.Store(key, v)
	}
	return v, err
}

// A shared chunk does not change when readers append to it.
func TestACachedChunkDoesNotChange(t *testing.T) {
	store := cache{newMemory(), new(sync.Map)}
	var all []contract.Message
	var heads []contract.Transcript
	var now contract.Transcript
	for n := range 100 {
		m := contract.Message{ID: fmt.Sprint("m", n), Content: contract.Inline(fmt.Sprint("text ", n))}
		all, now.Tail = append(all, m), append(now.Tail, m)
		var group sync.WaitGroup
		group.Go(func() { _, _ = transcript.OffloadAll(t.Context(), store, now) })
		folded, err := transcript.OffloadAll(t.Context(), store, now)
		if err != nil {
			t.Fatal(err)
		}
		group.Wait()
		now = contract.Transcript{Head: &folded.Head}
		heads = append(heads, now)
	}
	for n, head := range heads {
		got, err := transcript.Load(t.Context(), store, head)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all[:n+1], got); diff != "" {
			t.Fatalf("after %d messages (-written +read):\n%s", n+1, diff)
		}
	}
}

// A chunk's value is computed once, that of the tail each time.
func TestAProjectionIsComputedOnceForEachChunk(t *testing.T) {
	store := cache{newMemory(), new(sync.Map)}
	var v contract.Transcript
	for n, size := range []int{8000, 3000} { // the second is less than half of the first, so they are not merged
		v.Tail = []contract.Message{{ID: fmt.Sprint("m", n), Content: contract.Inline(strings.Repeat("x", size))}}
		folded, err := transcript.OffloadAll(t.Context(), store, v)
		if err != nil {
			t.Fatal(err)
		}
		v = contract.Transcript{Head: &folded.Head}
	}
	v.Tail = []contract.Message{{ID: "m2"}}
	times := map[string]int{}
	read := func(kind string) {
		t.Helper()
		ids := transcript.Projection[string]{Kind: kind, Of: func(messages []contract.Message) (string, int, error) {
			times[kind+messages[0].ID]++
			return messages[0].ID, 0, nil
		}}
		got, err := ids.Values(t.Context(), store, v)
		if diff := cmp.Diff([]string{"m0", "m1", "m2"}, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	read("a ")
	read("a ")
	read("b ")
	if diff := cmp.Diff(map[string]int{"a m0": 1, "a m1": 1, "a m2": 2, "b m0": 1, "b m1": 1, "b m2": 1}, times); diff != "" {
		t.Errorf("times that values were computed (-want +got):\n%s", diff)
	}
}

// A value that could not be computed is computed again.
func TestAFailedProjectionIsNotKept(t *testing.T) {
	store := cache{newMemory(), new(sync.Map)}
	folded, err := transcript.OffloadAll(t.Context(), store, contract.Transcript{Tail: []contract.Message{{ID: "m"}}})
	if err != nil {
		t.Fatal(err)
	}
	problem := errors.New("not now")
	p := transcript.Projection[int]{Of: func([]contract.Message) (int, int, error) { return 7, 0, problem }}
	if _, err := p.Values(t.Context(), store, contract.Transcript{Head: &folded.Head}); !errors.Is(err, problem) {
		t.Errorf("got %v", err)
	}
	problem = nil
	if got, err := p.Values(t.Context(), store, contract.Transcript{Head: &folded.Head}); err != nil || fmt.Sprint(got) != "[0 7]" && fmt.Sprint(got) != "[7 7]" {
		t.Errorf("got %v, %v", got, err)
	}
}
