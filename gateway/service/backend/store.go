package backend

import (
	"context"
	"fmt"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const otherStoreText = "the worker and this gateway do not share a blob store: set blobs.url in the YAML files of both to one place " +
	"that all of them can read and write, such as file:///srv/agent/blobs"

// sameStore fails with ErrOtherStore if the worker could not read the gateway's probe, or the
// gateway cannot read the worker's. An answer made for another gateway says nothing about
// this gateway's probe, and older workers do not check.
func (t *Temporal) sameStore(ctx context.Context, probe contract.Blob, c *contract.StoreCheck) error {
	if c == nil {
		return nil
	}
	if c.Problem != "" && c.Probe.SHA256 == probe.SHA256 {
		return service.Errorf(service.KindUnavailable, otherStoreText).Because(fmt.Errorf("%w: it cannot read this one's: %s", service.ErrOtherStore, c.Problem))
	}
	if _, err := t.blobs.Get(ctx, c.Own); err != nil {
		return service.Errorf(service.KindUnavailable, otherStoreText).Because(fmt.Errorf("%w: %w", service.ErrOtherStore, err))
	}
	return nil
}
