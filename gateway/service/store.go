package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// verdict is whether the workers share the gateway's blob store, as far as it is
// known.
type verdict struct {
	mu    sync.Mutex
	known bool
	err   error // wraps ErrOtherStore; nil when they do
	at    time.Time
}

func (v *verdict) set(err error, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known, v.err, v.at = true, err, now
}

// get returns the verdict, and whether it need not be asked for again: a good one
// stays, a bad one is good for a moment.
func (v *verdict) get(now time.Time) (known, fresh bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known, v.known && (v.err == nil || now.Sub(v.at) < badVerdictFresh), v.err
}

const (
	badVerdictFresh = 2 * time.Second
	// storeCheckTimeout bounds how long a message waits for a verdict. Without one it
	// is accepted: no worker may be up yet.
	storeCheckTimeout = 2 * time.Second
)

// loadCatalogue asks a worker, and remembers what its answer says of the store.
func (s *Service) loadCatalogue(ctx context.Context) (contract.Catalogue, error) {
	c, err := s.backend.Catalogue(ctx)
	if err == nil || errors.Is(err, ErrOtherStore) {
		s.verdict.set(err, s.now())
	}
	return c, err
}

// checkStore fails when workers are known to have another blob store. That nothing is
// known yet has it ask a worker when the store is needed.
func (s *Service) checkStore(ctx context.Context, needed bool) error {
	known, fresh, err := s.verdict.get(s.now())
	if fresh || !known && !needed {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, storeCheckTimeout)
	defer cancel()
	if _, err := s.catalogue.get(ctx); errors.Is(err, ErrOtherStore) {
		return err
	}
	return nil
}

// checkedStore refuses to keep what workers could not read.
type checkedStore struct {
	transcript.Store
	check func(ctx context.Context, needed bool) error
}

func (s checkedStore) Put(ctx context.Context, data []byte) (contract.Blob, error) {
	if err := s.check(ctx, true); err != nil {
		return contract.Blob{}, err
	}
	return s.Store.Put(ctx, data)
}

// Computed implements transcript.Cache.
func (s checkedStore) Computed(b contract.Blob, kind string, compute func() (any, int, error)) (any, error) {
	if c, ok := s.Store.(transcript.Cache); ok {
		return c.Computed(b, kind, compute)
	}
	v, _, err := compute()
	return v, err
}

// checkedBackend refuses conversations and messages: what workers put into a store of
// their own the gateway could not show.
type checkedBackend struct {
	Backend
	check func(ctx context.Context, needed bool) error
	// blobs reports whether parts of the agent are in the store.
	blobs bool
}

func (b checkedBackend) Start(ctx context.Context, in StartInput) (Started, error) {
	if first := in.Conversation.First; first != nil {
		if err := tooLarge(*first); err != nil {
			return Started{}, err
		}
	}
	if err := b.check(ctx, b.blobs); err != nil {
		return Started{}, err
	}
	return b.Backend.Start(ctx, in)
}

func (b checkedBackend) Signal(ctx context.Context, conversationID, signal string, payload any) error {
	if signal == contract.SignalMessage {
		if err := b.check(ctx, false); err != nil {
			return err
		}
	}
	return b.Backend.Signal(ctx, conversationID, signal, payload)
}

// refersToBlobs reports whether parts of an agent are in the blob store. Where a
// schema has a property called blob it errs on the safe side.
func refersToBlobs(a contract.Agent) bool {
	raw, err := json.Marshal(a)
	return err != nil || bytes.Contains(raw, []byte(`"blob":`))
}
