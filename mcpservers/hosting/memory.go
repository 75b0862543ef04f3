package hosting

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

type memoryStore struct {
	mu       sync.Mutex
	sessions map[string]*memorySession
}

type memorySession struct {
	used   time.Time
	values map[string][]byte
}

// NewMemoryStore returns a store that lasts as long as the process.
func NewMemoryStore() SessionStore {
	return &memoryStore{sessions: map[string]*memorySession{}}
}

func (m *memoryStore) Create(_ context.Context, id string, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[id] = &memorySession{used: now, values: map[string][]byte{}}
	return nil
}

func (m *memoryStore) Use(_ context.Context, id string, now, idleSince time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[id]
	if !ok || s.used.Before(idleSince) {
		return ErrNoSession
	}
	s.used = now
	return nil
}

func (m *memoryStore) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, id)
	return nil
}

func (m *memoryStore) Expire(_ context.Context, idleSince time.Time) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var expired []string
	for id, s := range m.sessions {
		if s.used.Before(idleSince) {
			expired = append(expired, id)
			delete(m.sessions, id)
		}
	}
	return expired, nil
}

func (m *memoryStore) Trim(_ context.Context, most int) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ids := slices.SortedFunc(maps.Keys(m.sessions), func(a, b string) int {
		return m.sessions[a].used.Compare(m.sessions[b].used)
	})
	ids = ids[:max(0, len(ids)-most)]
	for _, id := range ids {
		delete(m.sessions, id)
	}
	return ids, nil
}

func (m *memoryStore) Count(context.Context) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.sessions), nil
}

func (m *memoryStore) Value(_ context.Context, id, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[id]
	if !ok {
		return nil, ErrNoSession
	}
	return slices.Clone(s.values[key]), nil
}

func (m *memoryStore) SetValue(_ context.Context, id, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[id]
	if !ok {
		return ErrNoSession
	}
	if value == nil {
		delete(s.values, key)
	} else {
		s.values[key] = slices.Clone(value)
	}
	return nil
}

func (m *memoryStore) Close() error { return nil }
