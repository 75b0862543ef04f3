package auditing

import (
	"context"
	"fmt"

	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/deletion"
)

// Deleted says that a conversation is deleted, and erases its texts.
func (r *Recorder) Deleted(ctx context.Context, t deletion.Tombstone) error {
	if r == nil {
		return nil
	}
	if err := r.sender.record(ctx, []audit.Leaf{DeletionLeaf(t)}); err != nil {
		return fmt.Errorf("record the deletion: %w", err)
	}
	if err := r.files.Remove(ctx, texts(t.ConversationID)); err != nil {
		return fmt.Errorf("erase the texts of the audit: %w", err)
	}
	return nil
}

// DeletionLeaf returns the leaf of a deletion, which commits to the tombstone.
func DeletionLeaf(t deletion.Tombstone) audit.Leaf {
	return audit.Leaf{
		ID: audit.DeletionID(t.ConversationID), Kind: audit.KindDeletion, At: t.DeletedAt, Conversation: t.ConversationID, Agent: t.AgentName,
		What: string(t.Cause), Tombstone: t.Sum(), Actor: audit.ActorOf(t.Identity, ""),
	}
}
