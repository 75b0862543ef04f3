package merkle_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/workflows/contract/audit"
)

// Appenders that do not know of one another make one log, in which each event is once.
func TestTwoAppendersMakeOneLog(t *testing.T) {
	w := newWorld(t, false)
	var wg sync.WaitGroup
	for a := range 4 {
		l := w.open(w.store)
		wg.Go(func() {
			for n := range 20 {
				if _, err := l.Append(t.Context(), audit.Head{}, []audit.Leaf{{ID: fmt.Sprint("shared-", n), Kind: "k"}, {ID: fmt.Sprintf("own-%d-%d", a, n), Kind: "k"}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	r, c, err := merkle.Verify(t.Context(), w.store, merkle.Evidence{Origin: origin, Keys: []string{w.key.Public}})
	if err != nil || r.Class() != "" || r.Size != 20+4*20 {
		t.Errorf("%+v, %v", r, err)
	}
	seen := map[string]bool{}
	for _, l := range c.Leaves {
		if seen[l.ID] {
			t.Errorf("%s is there twice", l.ID)
		}
		seen[l.ID] = true
	}
}

// errLost is of a store that fails before or after it has written.
var errLost = errors.New("the answer is lost")

// Whatever fails, an append that is repeated appends once, and what was acknowledged stays.
func TestAppendsThatAreRepeatedAppendOnce(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, seed%2 == 0)
		l := w.open(w.store)
		var acknowledged []string
		for n := range 30 {
			leaves := []audit.Leaf{{ID: fmt.Sprint(n), Kind: "k"}, {ID: fmt.Sprint(random.IntN(n + 1)), Kind: "k"}}
			for {
				if random.IntN(4) == 0 { // the process dies
					l = w.open(w.store)
				}
				w.store.Fails, w.store.Late = nil, nil
				switch random.IntN(4) {
				case 0:
					w.store.Fails = errLost
				case 1:
					w.store.Late = errLost
				}
				h, err := l.Append(t.Context(), w.head, leaves)
				if err == nil {
					w.head = h
					break
				}
				if !errors.Is(err, errLost) {
					t.Fatal(err)
				}
			}
			w.store.Fails, w.store.Late = nil, nil
			acknowledged = append(acknowledged, fmt.Sprint(n))
		}
		_, c, err := merkle.Verify(t.Context(), w.store, merkle.Evidence{Origin: origin, Keys: []string{w.key.Public}, Head: w.head})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, l := range c.Leaves {
			ids = append(ids, l.ID)
		}
		if !slices.Equal(ids, acknowledged) {
			t.Errorf("seed %d: the log has %v", seed, ids)
		}
	}
}

// Programs of others read the checkpoints: the one of the log, and the one of the witness.
func TestOthersReadTheCheckpoints(t *testing.T) {
	w := newWorld(t, true)
	w.fill(2)
	_, c, err := merkle.Verify(t.Context(), w.store, merkle.Evidence{Origin: origin, Keys: []string{w.key.Public}})
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(w.key.Public)
	if err != nil {
		t.Fatal(err)
	}
	parsed, _, _, err := log.ParseCheckpoint(c.Checkpoint, origin, verifier)
	if err != nil {
		t.Fatal(err)
	}
	root, _ := c.Tree.Root(c.Tree.Size())
	if parsed.Size != uint64(c.Tree.Size()) || string(parsed.Hash) != string(root[:]) {
		t.Errorf("%+v", parsed)
	}
	notes, err := merkle.ReadWitness(w.witness)
	if err != nil || len(notes) != 6 {
		t.Fatalf("%d checkpoints, %v", len(notes), err)
	}
	public, err := merkle.WitnessKey(w.witness)
	if err != nil {
		t.Fatal(err)
	}
	witness, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, n, err := log.ParseCheckpoint(notes[5], origin, verifier, witness); err != nil || len(n.Sigs) != 2 {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestProofsOfAConversationHold(t *testing.T) {
	w := newWorld(t, false)
	w.fill(7)
	_, c, err := merkle.Verify(t.Context(), w.store, merkle.Evidence{Origin: origin, Keys: []string{w.key.Public}})
	if err != nil {
		t.Fatal(err)
	}
	wanted := c.Leaves[0].Conversation
	e, err := c.Prove(c.Checkpoint, c.Tree.Size(), func(l audit.Leaf) bool { return l.Conversation == wanted })
	if err != nil || len(e.Leaves) != 15 {
		t.Fatalf("%d leaves, %v", len(e.Leaves), err)
	}
	root, _ := c.Tree.Root(c.Tree.Size())
	for _, l := range e.Leaves {
		if err := tlog.CheckRecord(l.Proof, c.Tree.Size(), root, l.Index, tlog.RecordHash([]byte(l.Line))); err != nil {
			t.Error(err)
		}
	}
}

// A crash while the witness writes leaves a part of a checkpoint, which is cut off.
func TestAWitnessGoesOnAfterACrash(t *testing.T) {
	w := newWorld(t, true)
	w.fill(1)
	file := filepath.Join(w.witness, "checkpoints")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut < len(whole)/2; cut += 19 {
		if err := os.WriteFile(file, whole[:len(whole)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		w.log = w.open(w.store)
		w.append(audit.Leaf{ID: fmt.Sprint("more-", cut), Kind: "k"})
		if r := w.verify(merkle.Evidence{}); r.Class() != "" || r.Witnessed != w.head.Size {
			t.Fatalf("%d bytes are cut off: %+v", cut, r)
		}
	}
}

// The log is whole without its witness; the head says why that has not signed.
func TestAWitnessThatIsAwayDelaysNothing(t *testing.T) {
	w := newWorld(t, true)
	w.fill(1)
	away := w.witness + "-away"
	if err := os.Rename(w.witness, away); err != nil {
		t.Fatal(err)
	}
	w.append(audit.Leaf{ID: "x", Kind: "k"})
	if !strings.Contains(w.head.Witness, "no such file") {
		t.Errorf("%+v", w.head)
	}
	if err := os.Rename(away, w.witness); err != nil {
		t.Fatal(err)
	}
	w.append(audit.Leaf{ID: "y", Kind: "k"})
	if r := w.verify(merkle.Evidence{}); r.Class() != "" || r.Witnessed != w.head.Size || w.head.Witness != "" {
		t.Errorf("%+v, %+v", r, w.head)
	}
}

func TestAKeyIsChangedWithTheOldOneTrusted(t *testing.T) {
	w := newWorld(t, false)
	w.fill(1)
	old := w.key
	w.key = newKey(t)
	if _, err := w.open(w.store).Append(t.Context(), w.head, []audit.Leaf{{ID: "x", Kind: "k"}}); !errors.Is(err, merkle.ErrAltered) {
		t.Errorf("without trust in the old key: %v", err)
	}
	l, err := merkle.NewLog(merkle.Options{Store: w.store, Origin: origin, Key: w.key, Trusted: []string{old.Public}})
	if err != nil {
		t.Fatal(err)
	}
	if w.head, err = l.Append(t.Context(), w.head, []audit.Leaf{{ID: "x", Kind: "k"}}); err != nil {
		t.Fatal(err)
	}
	if r := w.verify(merkle.Evidence{Head: w.head, Keys: []string{w.key.Public, old.Public}}); r.Class() != "" || r.Size != 6 {
		t.Errorf("%+v", r)
	}
}

func TestAKeyFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "audit.key")
	first, err := merkle.KeyFile(path, origin)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := merkle.KeyFile(path, origin); err != nil || again.Public != first.Public {
		t.Errorf("%v, %v", again.Public, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := merkle.KeyFile(path, origin); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("%v", err)
	}
}
