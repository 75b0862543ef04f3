package merkle

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Memory is a Store for tests. The zero value is empty.
type Memory struct {
	mu    sync.Mutex
	Files map[string][]byte
	// Fails is the error of the next operations, if it is set, and Late that of the next Create that
	// has written.
	Fails, Late error
}

// Create implements Store.
func (m *Memory) Create(_ context.Context, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Fails != nil {
		return m.Fails
	}
	if _, there := m.Files[name]; there {
		return ErrExists
	}
	if m.Files == nil {
		m.Files = map[string][]byte{}
	}
	m.Files[name] = slices.Clone(data)
	return m.Late
}

// Read implements Store.
func (m *Memory) Read(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Fails != nil {
		return nil, m.Fails
	}
	data, there := m.Files[name]
	if !there {
		return nil, ErrNotFound
	}
	return slices.Clone(data), nil
}

// List implements Store.
func (m *Memory) List(_ context.Context, prefix string) ([]string, error) {
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
