package deletion

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

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

// Audit is the audit log, which erases its texts of a conversation.
type Audit interface {
	Deleted(ctx context.Context, t deletion.Tombstone) error
}

// Deletions has the activities.
type Deletions struct {
	AgentName string
	// Dir has the files of conversations.
	Dir    string
	Graves Graves
	Values Values
	// Audit may be nil.
	Audit Audit
	// After is how long a conversation is kept after its last change; 0 keeps it.
	After  time.Duration
	Now    func() time.Time
	Logger *slog.Logger
}

func (d *Deletions) file(conversationID string) string {
	return filepath.Join(d.Dir, contract.ConversationFile(conversationID))
}
