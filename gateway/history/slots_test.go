package history_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/service"
)

// starts counts how often a start was tried, and keeps what was started.
type starts struct {
	mu       sync.Mutex
	attempts int
	prints   map[string]string // fingerprints by conversation
	fail     bool
}

func (s *starts) begin(t *testing.T, f *history.Finder, q history.Query) (id string, err error) {
	return f.Start(t.Context(), q, func(id string) (service.StartedConversation, error) {
		time.Sleep(time.Millisecond)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.attempts++
		if s.fail {
			return service.StartedConversation{}, errors.New("no server")
		}
		print, existed := s.prints[id]
		if !existed {
			s.prints[id] = q.Fingerprint()
		}
		return service.StartedConversation{Existed: existed, Fingerprint: print}, nil
	})
}

func newStarts(t *testing.T) (*history.Finder, *starts) {
	s := service.New(service.Options{Backend: newShelf(), Blobs: noBlobs{}})
	t.Cleanup(s.Close)
	return history.NewFinder(s, time.Now), &starts{prints: map[string]string{}}
}

func TestChatsThatBeginAlikeAtOnceTryOneSlotEach(t *testing.T) {
	for keyed, want := range map[bool]int{false: 20, true: 20 * 21 / 2} { // with a key, each may have a slot already
		synctest.Test(t, func(t *testing.T) {
			finder, started := newStarts(t)
			var all sync.WaitGroup
			for n := range 20 {
				q := history.Query{Text: "hello"}
				if keyed {
					q.Key = fmt.Sprint("key", n)
				}
				all.Go(func() {
					if _, err := started.begin(t, finder, q); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if started.attempts != want || len(started.prints) != 20 {
				t.Errorf("with keys %t: %d attempts of %d, %d conversations", keyed, started.attempts, want, len(started.prints))
			}
		})
	}
}

// A search ends at the first slot that is free.
func TestASlotThatWasNotTakenIsTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := history.Query{Text: "hello"}
		finder, started := newStarts(t)
		started.fail = true
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if _, err := started.begin(t, finder, q); err == nil {
					t.Error("it has begun")
				}
			})
		}
		all.Wait()
		started.fail = false
		id, err := started.begin(t, finder, q)
		again, fresh := newStarts(t)
		first, _ := fresh.begin(t, again, q)
		if err != nil || id != first {
			t.Errorf("%s, %v; the first slot is %s", id, err, first)
		}
	})
}
