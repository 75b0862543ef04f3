package blobstore

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"agent-stop-and-go/workflows/contract"
)

// MemoryStore is a store in a map, for tests. Make it with Memory.
type MemoryStore struct {
	mu     sync.Mutex
	values map[string][]byte
	claims map[string]string
}

// Memory returns an empty store that lives as long as the process.
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

// Get returns a copy of the value at an address; its errors are those of
// Store.Get.
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

// Len is the number of values.
func (m *MemoryStore) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.values)
}

// Claim is that of Store.
func (m *MemoryStore) Claim(_ context.Context, name, owner string) (holder string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, taken := m.claims[name]; !taken {
		m.claims[name] = owner
	}
	return m.claims[name], nil
}

// Release is that of Store.
func (m *MemoryStore) Release(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.claims, name)
	return nil
}
