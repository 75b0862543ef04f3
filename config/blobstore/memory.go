package blobstore

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"agent-stop-and-go/workflows/contract"
)

// MemoryStore is a store in memory, for tests. Make one with Memory.
type MemoryStore struct {
	mu     sync.Mutex
	values map[string][]byte
	claims map[string]string
}

// Memory returns an empty store.
func Memory() *MemoryStore {
	return &MemoryStore{values: map[string][]byte{}, claims: map[string]string{}}
}

// Put stores a copy of data and returns its address.
func (m *MemoryStore) Put(_ context.Context, data []byte) (contract.Blob, error) {
	b := contract.NewBlob(data)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[b.SHA256] = slices.Clone(data)
	return b, nil
}

// Get returns a copy of a value. Its errors are those of Store.Get.
func (m *MemoryStore) Get(_ context.Context, b contract.Blob) ([]byte, error) {
	if !b.Valid() {
		return nil, fmt.Errorf("read blob: %w", ErrInvalid)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.values[b.SHA256]
	if !ok {
		return nil, missing(b)
	}
	if err := verifySize(b, int64(len(data))); err != nil {
		return nil, err
	}
	return slices.Clone(data), nil
}

// Len returns the number of values.
func (m *MemoryStore) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.values)
}

// Claim behaves like Store.Claim.
func (m *MemoryStore) Claim(_ context.Context, name, owner string) (holder string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.claims[name]; !taken {
		m.claims[name] = owner
	}
	return m.claims[name], nil
}

// Release behaves like Store.Release.
func (m *MemoryStore) Release(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.claims, name)
	return nil
}
