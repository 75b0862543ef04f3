package auditor

import (
	"context"

	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/workflows/contract/audit"
)

// importBatch is how many leaves are sent at once.
const importBatch = 100

// ImportDeletions sends the tombstones to the log that it has no leaf of: of conversations that were
// deleted before there was a log, or with one that was lost. It returns how many.
func (r *Reader) ImportDeletions(ctx context.Context, server auditing.Server) (n int, err error) {
	known := map[string]bool{}
	for _, l := range r.Contents.Leaves {
		known[l.ID] = true
	}
	ids, err := r.store.Tombstones(ctx)
	if err != nil {
		return 0, err
	}
	var batch []audit.Leaf
	send := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := auditing.Tell(ctx, server, batch); err != nil {
			return err
		}
		n += len(batch)
		batch = nil
		return nil
	}
	for _, id := range ids {
		if known[audit.DeletionID(id)] {
			continue
		}
		t, err := r.store.Tombstone(ctx, id)
		if err != nil {
			return n, err
		}
		if t == nil {
			continue
		}
		if batch = append(batch, auditing.DeletionLeaf(*t)); len(batch) == importBatch {
			if err := send(); err != nil {
				return n, err
			}
		}
	}
	return n, send()
}
