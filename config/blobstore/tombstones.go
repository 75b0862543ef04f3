package blobstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"agent-stop-and-go/workflows/contract/deletion"
)

const tombstoneFolder = "tombstones/"

// Bury keeps a tombstone, unless the conversation has one, and returns the one that counts. When
// it returns, the tombstone is on disk.
func (s *Store) Bury(ctx context.Context, t deletion.Tombstone) (deletion.Tombstone, error) {
	data, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return t, fmt.Errorf("encode the tombstone of %s: %w", t.ConversationID, err)
	}
	err = s.write(ctx, tombstoneKey(t.ConversationID), data, &blob.WriterOptions{ContentType: "application/json", IfNotExist: true})
	switch {
	case err == nil:
		return t, nil
	case gcerrors.Code(err) != gcerrors.FailedPrecondition:
		return t, fmt.Errorf("write the tombstone of %s: %w", t.ConversationID, err)
	}
	there, err := s.Tombstone(ctx, t.ConversationID)
	if err != nil || there == nil {
		return t, fmt.Errorf("read the tombstone of %s: %w", t.ConversationID, err)
	}
	return *there, nil
}

// Tombstone returns the tombstone of a conversation, or nil if it was not deleted.
func (s *Store) Tombstone(ctx context.Context, conversationID string) (*deletion.Tombstone, error) {
	data, err := s.bucket.ReadAll(ctx, tombstoneKey(conversationID))
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the tombstone of %s: %w", conversationID, err)
	}
	var t deletion.Tombstone
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("read the tombstone of %s: %w", conversationID, err)
	}
	return &t, nil
}

// Tombstones returns the IDs of the conversations that have one.
func (s *Store) Tombstones(ctx context.Context) (conversations []string, err error) {
	list := s.bucket.List(&blob.ListOptions{Prefix: tombstoneFolder})
	for {
		o, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return conversations, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list the tombstones: %w", err)
		}
		if id, ok := strings.CutSuffix(strings.TrimPrefix(o.Key, tombstoneFolder), ".json"); ok {
			conversations = append(conversations, id)
		}
	}
}

func tombstoneKey(conversationID string) string { return tombstoneFolder + conversationID + ".json" }
