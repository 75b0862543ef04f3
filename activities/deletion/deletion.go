package deletion

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/activity"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// Graves keeps tombstones.
type Graves interface {
	// Bury keeps a tombstone, unless the conversation has one, and returns the one that counts.
	Bury(ctx context.Context, t deletion.Tombstone) (deletion.Tombstone, error)
	// Tombstone returns the tombstone of a conversation, or nil.
	Tombstone(ctx context.Context, conversationID string) (*deletion.Tombstone, error)
}

// Deletions has the activities.
type Deletions struct {
	// Dir has the files of conversations.
	Dir    string
	Graves Graves
	Values Values
	// After is how long a conversation is kept after its last change; 0 keeps it.
	After  time.Duration
	Now    func() time.Time
	Logger *slog.Logger
}

func (d *Deletions) file(conversationID string) string {
	return filepath.Join(d.Dir, contract.ConversationFile(conversationID))
}

// beat sends heartbeats while a step runs.
func beat(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(5 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return func() { close(done) }
}
