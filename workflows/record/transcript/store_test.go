package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"agent-stop-and-go/workflows/contract"
)

var errNoBlob = errors.New("no such blob")

// memory is a Store.
type memory struct {
	mu      sync.Mutex
	values  map[string][]byte
	puts    int
	written int   // total bytes of all puts
	failPut error // error of Put
}

func newMemory() *memory { return &memory{values: map[string][]byte{}} }

func (m *memory) Put(_ context.Context, data []byte) (contract.Blob, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failPut != nil {
		return contract.Blob{}, m.failPut
	}
	b := contract.NewBlob(data)
	m.values[b.SHA256] = append([]byte(nil), data...)
	m.puts++
	m.written += len(data)
	return b, nil
}

func (m *memory) Get(_ context.Context, b contract.Blob) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.values[b.SHA256]
	if !ok {
		return nil, fmt.Errorf("%w: %s", errNoBlob, b.SHA256)
	}
	return append([]byte(nil), data...), nil
}

func (m *memory) largest() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var n int
	for _, v := range m.values {
		n = max(n, len(v))
	}
	return n
}
