package quota

import (
	"context"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Lag is how long a conversation that was started is noted. Temporal counts it after less.
const Lag = 3 * time.Second

// maxCallers is the number of callers that a Memory knows. Those that were silent longest are
// forgotten.
const maxCallers = 10_000

// Memory is a ledger in this process. It never fails.
type Memory struct {
	now func() time.Time

	mu      sync.Mutex
	callers *lru.Cache[string, *account]
}

// account is what is known of a caller.
type account struct {
	// paid is the time until which the requests that were taken last if they are sent evenly.
	paid  time.Time
	begun []note // in their order
}

type note struct {
	id string
	at time.Time
}

// NewMemory returns an empty ledger.
func NewMemory(now func() time.Time) *Memory {
	callers, _ := lru.New[string, *account](maxCallers) // fails only for sizes below 1
	return &Memory{now: now, callers: callers}
}

func (m *Memory) account(caller string) *account {
	a, ok := m.callers.Get(caller)
	if !ok {
		a = &account{}
		m.callers.Add(caller, a)
	}
	return a
}

// Take implements Ledger.
func (m *Memory) Take(_ context.Context, caller string, interval time.Duration, burst int) (time.Duration, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, now := m.account(caller), m.now()
	if a.paid.Before(now) {
		a.paid = now
	}
	if wait := a.paid.Sub(now) - time.Duration(burst-1)*interval; wait > 0 {
		return wait, nil
	}
	a.paid = a.paid.Add(interval)
	return 0, nil
}

// Begin implements Ledger.
func (m *Memory) Begin(_ context.Context, caller, id string) (before []string, known bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, now := m.account(caller), m.now()
	a.begun = slices.DeleteFunc(a.begun, func(n note) bool { return now.Sub(n.at) >= Lag })
	for _, n := range a.begun {
		if n.id == id {
			return before, true, nil
		}
		before = append(before, n.id)
	}
	a.begun = append(a.begun, note{id, now})
	return before, false, nil
}

// Withdraw implements Ledger.
func (m *Memory) Withdraw(_ context.Context, caller, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.account(caller)
	a.begun = slices.DeleteFunc(a.begun, func(n note) bool { return n.id == id })
	return nil
}
