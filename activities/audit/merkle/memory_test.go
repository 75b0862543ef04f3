package merkle_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"agent-stop-and-go/activities/audit/merkle"
)

// memory is a store. The zero value is empty.
type memory struct {
	mu    sync.Mutex
	Files map[string][]byte
	// Fails is the error of the next operations, if it is set, and Late that of the next Create that
	// has written.
	Fails, Late error
}

// Create implements merkle.Store.
func (m *memory) Create(_ context.Context, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Fails != nil {
		return m.Fails
	}
	if _, there := m.Files[name]; there {
		return merkle.ErrExists
	}
	if m.Files == nil {
		m.Files = map[string][]byte{}
	}
	m.Files[name] = slices.Clone(data)
	return m.Late
}

// Read implements merkle.Store.
func (m *memory) Read(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Fails != nil {
		return nil, m.Fails
	}
	data, there := m.Files[name]
	if !there {
		return nil, merkle.ErrNotFound
	}
	return slices.Clone(data), nil
}

// List implements merkle.Store.
func (m *memory) List(_ context.Context, prefix string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Fails != nil {
		return nil, m.Fails
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if strings.HasPrefix(name, prefix) {
			out = append(out, name)
		}
	}
	return out, nil
}
