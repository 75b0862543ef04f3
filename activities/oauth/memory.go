package oauth

import (
	"context"
	"sync"

	"agent-stop-and-go/workflows/credential"
)

// Memory is a Store that ends with its process. The zero value is empty.
type Memory struct {
	mu   sync.Mutex
	data map[string][]byte
}

// LoadRecord implements Store.
func (m *Memory) LoadRecord(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.data[name], nil
}

// SaveRecord implements Store.
func (m *Memory) SaveRecord(_ context.Context, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.data == nil {
		m.data = map[string][]byte{}
	}
	m.data[name] = data
	return nil
}

// InMemory returns options with a Memory and a key that end with their process.
func InMemory(agent string) (Options, error) {
	key, err := credential.NewKey()
	if err != nil {
		return Options{}, err
	}
	ring, err := credential.NewKeyring(key)
	return Options{Agent: agent, Store: &Memory{}, Keyring: ring}, err
}
