package transcript

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Probe is a value of one process, by which another process finds out whether both use the same
// store. It changes every day, so that a store that deletes old values has the current one.
type Probe struct {
	store    Store
	instance string
	now      func() time.Time
}

// NewProbe makes a unique probe. It writes nothing yet.
func NewProbe(s Store, now func() time.Time) *Probe {
	return &Probe{store: s, instance: rand.Text(), now: now}
}

// Put stores the value and returns its address.
func (p *Probe) Put(ctx context.Context) (contract.Blob, error) {
	b, err := p.store.Put(ctx, fmt.Appendf(nil, "blob store probe %s %s\n", p.instance, p.now().UTC().Format(time.DateOnly)))
	b.Preview = ""
	return b, err
}
