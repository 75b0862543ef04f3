package blobstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// A store without files, as object stores are, for thirty days: writers take up to six hours
// between the storing of a value and its reference, and holders mark and collect at any hour.
func TestCollectionsInAnObjectStoreLoseNothingThatIsUsed(t *testing.T) {
	seed := rand.Uint64()
	synctest.Test(t, func(t *testing.T) {
		store, err := blobstore.Open(context.Background(), "mem://")
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		begin := time.Now()
		passed := func() bool { return time.Since(begin) > 30*24*time.Hour }
		holders := []*references{{n: map[string]int{}}, {n: map[string]int{}}}
		var all sync.WaitGroup
		for w := range 8 {
			h := holders[w%2]
			all.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(w)))
				for !passed() {
					b, err := store.Put(t.Context(), fmt.Appendf(nil, "value %d", random.IntN(40)))
					if err != nil {
						t.Error(err)
					}
					hours(random, 6)
					h.add(b, 1)
					hours(random, 72)
					store.Forget()
					if _, err := store.Get(t.Context(), b); err != nil {
						t.Errorf("seed %d: a used value: %v", seed, err)
					}
					h.add(b, -1)
					hours(random, 48)
				}
			})
		}
		for i, h := range holders {
			all.Go(func() {
				random := rand.New(rand.NewPCG(seed, uint64(100+i)))
				for !passed() {
					m := deletion.Marks{Holder: fmt.Sprint(i), Began: time.Now()}
					m.Sums = h.sums()
					hours(random, 5)
					if err := store.Mark(t.Context(), m); err != nil {
						t.Error(err)
					}
					hours(random, 5)
					if _, err := store.Collect(t.Context(), deletion.Grace, false); err != nil {
						t.Error(err)
					}
					hours(random, 24)
				}
			})
		}
		all.Wait()
		var last deletion.Collected
		for range 3 {
			time.Sleep(deletion.Grace + time.Hour)
			for i, h := range holders {
				if err := store.Mark(t.Context(), deletion.Marks{Holder: fmt.Sprint(i), Began: time.Now(), Sums: h.sums()}); err != nil {
					t.Error(err)
				}
			}
			if last, err = store.Collect(t.Context(), deletion.Grace, false); err != nil {
				t.Error(err)
			}
		}
		if last.Values != 0 {
			t.Errorf("seed %d: this is left: %+v", seed, last)
		}
	})
}

// references are those of a holder.
type references struct {
	mu sync.Mutex
	n  map[string]int
}

func (r *references) add(b contract.Blob, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n[b.SHA256] += n
}

func (r *references) sums() (sums []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for sum, n := range r.n {
		if n > 0 {
			sums = append(sums, sum)
		}
	}
	return sums
}

func hours(random *rand.Rand, most int) {
	time.Sleep(time.Duration(random.IntN(most*3600)) * time.Second)
}
