package merkle

import (
	"context"
	"errors"
	"fmt"

	"agent-stop-and-go/workflows/contract/audit"
)

// tombstones compares what is left of deleted conversations with the leaves of their deletions.
func (v *verifier) tombstones(ctx context.Context) error {
	if v.evidence.Tombstones == nil {
		return nil
	}
	for _, l := range v.contents.Leaves {
		if l.Kind != audit.KindDeletion || l.Tombstone == "" {
			continue
		}
		switch sum, err := v.evidence.Tombstones(ctx, l.Conversation); {
		case errors.Is(err, ErrNotFound):
			v.add(Incomplete, "", l.ID, "the tombstone of a deleted conversation is missing")
		case err != nil:
			return fmt.Errorf("read the tombstone of %s: %w", l.Conversation, err)
		case sum != l.Tombstone:
			v.add(Altered, "", l.ID, "the tombstone of a deleted conversation is not the one that was recorded")
		}
	}
	return nil
}

// texts compares the texts that are there with their leaves. Those of deleted conversations are gone.
func (v *verifier) texts(ctx context.Context) error {
	if v.evidence.Texts == nil {
		return nil
	}
	deleted := map[string]bool{}
	for _, l := range v.contents.Leaves {
		if l.Kind == audit.KindDeletion {
			deleted[l.Conversation] = true
		}
	}
	for _, l := range v.contents.Leaves {
		if l.Text == "" {
			continue
		}
		t, err := v.evidence.Texts(ctx, l)
		switch {
		case errors.Is(err, ErrNotFound) && deleted[l.Conversation]:
		case errors.Is(err, ErrNotFound):
			v.add(Incomplete, "", l.ID, "the text of a %s is missing, and its conversation was not deleted", l.Kind)
		case err != nil:
			return fmt.Errorf("read the text of %s: %w", l.ID, err)
		case t.Sum() != l.Text || t.Leaf != l.ID:
			v.add(Altered, "", l.ID, "the text of a %s is not the one that was recorded", l.Kind)
		}
	}
	return nil
}
