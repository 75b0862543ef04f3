package blobstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// collecting is a store whose clock is ahead by skew, with everything outside it that refers to
// values.
type collecting struct {
	*blobstore.Store
	dir  string
	skew atomic.Int64
	mu   sync.Mutex
	refs map[string]int
}

func newCollecting(t *testing.T) *collecting {
	dir := t.TempDir()
	c := &collecting{Store: open(t, dir), dir: dir, refs: map[string]int{}}
	c.At(func() time.Time { return time.Now().Add(time.Duration(c.skew.Load())) })
	return c
}

// reopened returns another process's store in the same folder, which has nothing in memory.
func (c *collecting) reopened(t *testing.T) *blobstore.Store { return open(t, c.dir) }

// mark marks what is referred to, for a holder.
func (c *collecting) mark(t *testing.T, holder string, at time.Time) {
	t.Helper()
	m := deletion.Marks{Holder: holder, AgentName: holder, Began: at}
	c.mu.Lock()
	for sum, n := range c.refs {
		if n > 0 {
			m.Sums = append(m.Sums, sum)
		}
	}
	c.mu.Unlock()
	if err := c.Mark(t.Context(), m); err != nil {
		t.Error(err)
	}
}

func (c *collecting) refer(sum string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refs[sum] += n
}

func (c *collecting) collect(t *testing.T, dry bool) deletion.Collected {
	t.Helper()
	c.mark(t, "agent", time.Now())
	got, err := c.Collect(t.Context(), deletion.Grace, dry)
	if err != nil {
		t.Error(err)
	}
	return got
}

// age makes all files of the store older by a time.
func (c *collecting) age(t *testing.T, by time.Duration) {
	t.Helper()
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		at := info.ModTime().Add(-by)
		if err = os.Chtimes(path, at, at); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

func TestACollectionTakesWhatNothingRefersTo(t *testing.T) {
	c := newCollecting(t)
	inner := put(t, c.Store, []byte("inner"))
	outer := put(t, c.Store, fmt.Appendf(nil, `{"prev":{"sha256":"%s"}}`, inner.SHA256))
	text := put(t, c.Store, fmt.Appendf(nil, "a text that names %s", inner.SHA256)) // refers to nothing
	garbage := put(t, c.Store, []byte("garbage"))
	c.refer(outer.SHA256, 1)
	c.refer(text.SHA256, 1)
	if _, err := c.Claim(t.Context(), "call", "run"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Bury(t.Context(), deletion.Tombstone{ConversationID: "c"}); err != nil {
		t.Fatal(err)
	}
	if got := c.collect(t, false); got.Values != 4 || got.Used != 3 || got.Young != 1 || got.Discarded != 0 {
		t.Errorf("at once: %+v", got)
	}
	c.age(t, deletion.Grace+time.Minute)
	young := put(t, c.Store, []byte("young"))
	if got := c.collect(t, true); got.Discarded != 1 || got.DiscardedBytes != garbage.Size || got.Young != 1 {
		t.Errorf("dry: %+v", got)
	}
	c.refer(outer.SHA256, -1) // its conversation is deleted
	if got := c.collect(t, false); got.Discarded != 3 || got.Used != 1 {
		t.Errorf("after a day: %+v", got)
	}
	other := c.reopened(t)
	if data, err := other.Get(t.Context(), inner); err != nil || string(data) != "inner" {
		t.Errorf("what is asked for is put back: %q, %v", data, err)
	}
	c.refer(outer.SHA256, 1)
	c.age(t, deletion.Grace+time.Minute)
	if got := c.collect(t, false); got.Restored != 1 || got.Removed != 1 {
		t.Errorf("after two days: %+v", got)
	}
	after := c.reopened(t)
	for _, b := range []contract.Blob{outer, inner, text} {
		if _, err := after.Get(t.Context(), b); err != nil {
			t.Errorf("a used value: %v", err)
		}
	}
	if _, err := after.Get(t.Context(), garbage); !errors.Is(err, blobstore.ErrNotFound) {
		t.Errorf("garbage: %v", err)
	}
	if _, err := after.Get(t.Context(), young); err != nil {
		t.Errorf("what was put aside yesterday: %v", err)
	}
	if holder, err := after.Claim(t.Context(), "call", "another"); err != nil || holder != "run" {
		t.Errorf("the claim: %q, %v", holder, err)
	}
	if there, err := after.Tombstone(t.Context(), "c"); err != nil || there == nil {
		t.Errorf("the tombstone: %v, %v", there, err)
	}
}

func TestAValueThatIsStoredAgainIsYoung(t *testing.T) {
	c := newCollecting(t)
	b := put(t, c.Store, []byte("value"))
	c.age(t, deletion.Grace+time.Minute)
	put(t, c.reopened(t), []byte("value")) // by another process, whose reference is not recorded yet
	if got := c.collect(t, false); got.Young != 1 || got.Discarded != 0 {
		t.Errorf("got %+v", got)
	}
	if _, err := c.reopened(t).Get(t.Context(), b); err != nil {
		t.Error(err)
	}
}

func TestNothingIsCollectedIfItIsNotKnownWhatIsUsed(t *testing.T) {
	c := newCollecting(t)
	put(t, c.Store, []byte("value"))
	c.age(t, 3*deletion.Grace)
	if _, err := c.Collect(t.Context(), deletion.Grace, false); err == nil {
		t.Error("without marks")
	}
	if err := os.MkdirAll(filepath.Join(c.dir, "marks"), 0o700); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(c.dir, "marks", "holder.json")
	if err := os.WriteFile(damaged, []byte(`{"holder":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Collect(t.Context(), deletion.Grace, false); err == nil {
		t.Error("with damaged marks")
	}
	if err := os.Remove(damaged); err != nil {
		t.Fatal(err)
	}
	if got := c.collect(t, true); got.Values != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestValuesOfOtherAgentsAreKept(t *testing.T) {
	c := newCollecting(t)
	theirs := put(t, c.Store, []byte("of the other agent"))
	c.refer(theirs.SHA256, 1)
	c.mark(t, "other", time.Now().Add(-3*deletion.Grace))
	c.refer(theirs.SHA256, -1)
	put(t, c.Store, []byte("garbage"))
	c.age(t, 2*deletion.Grace)
	got := c.collect(t, false)
	if got.Used != 1 || got.Young != 1 || got.Discarded != 0 || len(got.Late) != 1 || got.Late[0].AgentName != "other" || got.Late[0].File != "marks/other.json" {
		t.Errorf("what the other may have begun to use since it marked: %+v", got)
	}
	c.mark(t, "other", time.Now())
	c.refer(theirs.SHA256, 1)
	c.mark(t, "other", time.Now())
	c.refer(theirs.SHA256, -1)
	if got := c.collect(t, false); got.Used != 1 || got.Discarded != 1 || len(got.Late) != 0 {
		t.Errorf("with fresh marks: %+v", got)
	}
	if _, err := c.reopened(t).Get(t.Context(), theirs); err != nil {
		t.Error(err)
	}
}

func TestMarksAreOnlyOfValues(t *testing.T) {
	c := newCollecting(t)
	value := put(t, c.Store, []byte("value"))
	secret := contract.Hash([]byte("a text that looks like a sum"))
	c.refer(value.SHA256, 1)
	c.refer(secret, 1)
	c.mark(t, "agent", time.Now())
	data, err := os.ReadFile(filepath.Join(c.dir, "marks", "agent.json"))
	if err != nil || !bytes.Contains(data, []byte(value.SHA256)) || bytes.Contains(data, []byte(secret)) {
		t.Errorf("%s, %v", data, err)
	}
}

// A disk that fails at any moment of a collection, as at a crash, loses no value.
func TestACollectionThatIsInterruptedLosesNothing(t *testing.T) {
	c := newCollecting(t)
	used, unused := put(t, c.Store, []byte("used")), put(t, c.Store, []byte("unused"))
	c.age(t, deletion.Grace+time.Minute)
	c.refer(used.SHA256, 1)
	c.mark(t, "agent", time.Now())
	for fails := 1; ; fails++ {
		syncs, broken := 0, errors.New("the disk fails")
		c.OnSync(func(string) error {
			if syncs++; syncs == fails {
				return broken
			}
			return nil
		})
		_, err := c.Collect(t.Context(), deletion.Grace, false)
		c.OnSync(func(string) error { return nil })
		for _, b := range []contract.Blob{used, unused} {
			if _, err := c.reopened(t).Get(t.Context(), b); err != nil {
				t.Errorf("after %d syncs: %v", fails-1, err)
			}
		}
		if err == nil {
			return
		}
		c.age(t, deletion.Grace+time.Minute)
		c.mark(t, "agent", time.Now())
	}
}

// Random writers store values, refer to them a little later, and forget them again, while days
// pass and collections run. No value is lost that something refers to; in the end no other is
// left.
func TestCollectionsLoseNothingThatIsUsed(t *testing.T) {
	c := newCollecting(t)
	seed := rand.Uint64()
	ctx := t.Context()
	fail := func(format string, args ...any) { t.Errorf("seed %d: %s", seed, fmt.Sprintf(format, args...)) }
	var days sync.RWMutex // a day passes only between the storing of a value and its reference, never within
	var writers sync.WaitGroup
	for w := range 6 {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(w)))
			var mine []contract.Blob
			for range 150 {
				switch {
				case random.IntN(3) > 0 || len(mine) == 0:
					store := c.Store
					if random.IntN(2) == 0 {
						store = c.reopened(t)
					}
					days.RLock()
					inner, err := store.Put(ctx, fmt.Appendf(nil, "value %d", random.IntN(30))) // shared with other writers
					if err != nil {
						fail("%v", err)
					}
					b, err := store.Put(ctx, fmt.Appendf(nil, `{"of":%d,"sha256":%q}`, random.IntN(30), inner.SHA256))
					if err != nil {
						fail("%v", err)
					}
					c.refer(b.SHA256, 1)
					days.RUnlock()
					mine = append(mine, b, inner)
				default:
					i := 2 * random.IntN(len(mine)/2)
					fresh := c.reopened(t)
					for _, b := range mine[i : i+2] {
						if _, err := fresh.Get(ctx, b); err != nil {
							fail("a used value: %v", err)
						}
					}
					c.refer(mine[i].SHA256, -1)
					mine = append(mine[:i], mine[i+2:]...)
				}
			}
			for i := 0; i < len(mine); i += 2 {
				c.refer(mine[i].SHA256, -1)
			}
		})
	}
	done := make(chan struct{})
	var collectors sync.WaitGroup
	for range 2 { // at the same time, though one at a time is the rule
		collectors.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				days.Lock()
				c.age(t, deletion.Grace*2/3)
				days.Unlock()
				c.collect(t, false)
			}
		})
	}
	writers.Wait()
	close(done)
	collectors.Wait()
	for range 3 {
		c.age(t, deletion.Grace+time.Minute)
		c.collect(t, false)
	}
	if got := c.collect(t, true); got.Values != 0 || got.Removed != 0 {
		fail("this is left: %+v", got)
	}
}
