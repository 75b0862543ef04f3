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

// storeCheck is the known result of the check whether the workers share the gateway's blob
// store.
type storeCheck struct {
	mu    sync.Mutex
	known bool
	err   error // wraps ErrOtherStore; nil if they share it
	at    time.Time
}

func (v *storeCheck) set(err error, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known, v.err, v.at = true, err, now
}

// get returns the result, and whether it may be used without a new check: a good result stays
// valid, a bad one for a moment.
func (v *storeCheck) get(now time.Time) (known, fresh bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known, v.known && (v.err == nil || now.Sub(v.at) < badCheckFresh), v.err
}

const (
	badCheckFresh = 2 * time.Second
	// storeCheckTimeout limits how long a message waits for the check. Without a result it is
	// accepted: maybe no worker is up yet.
	storeCheckTimeout = 2 * time.Second
)

// loadCatalogue asks a worker for its catalogue, and records what the answer says about the
// store.
func (s *Service) loadCatalogue(ctx context.Context) (contract.Catalogue, error) {
	c, err := s.backend.Catalogue(ctx)
	if err == nil || errors.Is(err, ErrOtherStore) {
		s.storeCheck.set(err, s.now())
	}
	return c, err
}

// checkStore fails if workers are known to have another blob store. If nothing is known and
// the store is needed, it asks a worker.
func (s *Service) checkStore(ctx context.Context, needed bool) error {
	known, fresh, err := s.storeCheck.get(s.now())
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

// checkedStore refuses to store values that workers could not read.
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

// checkedBackend refuses conversations and messages while workers have another blob store,
// because the gateway could not show their results.
type checkedBackend struct {
	Backend
	check func(ctx context.Context, needed bool) error
	// blobs reports whether parts of the agent are in the store.
	blobs bool
}

func (b checkedBackend) Start(ctx context.Context, in StartInput) (StartResult, error) {
	if err := b.checkStart(ctx, in); err != nil {
		return StartResult{}, err
	}
	return b.Backend.Start(ctx, in)
}

func (b checkedBackend) StartAndAwait(ctx context.Context, in StartInput) (contract.AwaitResult, error) {
	if err := b.checkStart(ctx, in); err != nil {
		return contract.AwaitResult{}, err
	}
	return b.Backend.StartAndAwait(ctx, in)
}

func (b checkedBackend) checkStart(ctx context.Context, in StartInput) error {
	if first := in.Conversation.First; first != nil {
		if err := tooLarge(*first); err != nil {
			return err
		}
	}
	return b.check(ctx, b.blobs)
}

func (b checkedBackend) Signal(ctx context.Context, conversationID, signal string, payload any) error {
	if signal == contract.SignalMessage {
		if err := b.check(ctx, false); err != nil {
			return err
		}
	}
	return b.Backend.Signal(ctx, conversationID, signal, payload)
}

// refersToBlobs reports whether parts of an agent are in the blob store. A schema with a
// property named blob gives a harmless false positive.
func refersToBlobs(a contract.Agent) bool {
	raw, err := json.Marshal(a)
	return err != nil || bytes.Contains(raw, []byte(`"blob":`))
}
