package deletion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

const (
	// erasePause is the time between two looks at the lists, which lag a little behind.
	erasePause = 500 * time.Millisecond
	// eraseLooks is how many looks in a row must find nothing.
	eraseLooks = 2
)

// Erase removes what belongs to a conversation that has a tombstone, except stored values, which
// may belong to others too.
func (d *Deletions) Erase(ctx context.Context, t deletion.Tombstone) (out deletion.EraseResult, err error) {
	defer beat(ctx)()
	s := serverOf(ctx)
	if err := d.eraseFile(t.ConversationID); err != nil {
		return out, err
	}
	for empty := 0; empty < eraseLooks; empty++ {
		removed, err := s.erase(ctx, t.ConversationID)
		if err != nil {
			return out, fmt.Errorf("remove the workflows: %w", err)
		}
		if removed > 0 {
			out.Workflows, empty = max(out.Workflows, removed), -1
		}
		select {
		case <-time.After(erasePause):
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
	return out, d.eraseFile(t.ConversationID) // an export may have been under way
}

// erase removes all runs that are listed for a conversation, its own first: from then on it does
// not exist any more.
func (s server) erase(ctx context.Context, conversationID string) (removed int, err error) {
	own := contract.ConversationWorkflowID(conversationID)
	info, err := s.describe(ctx, own)
	if err != nil {
		return 0, err
	}
	if info != nil {
		if err := s.remove(ctx, info.GetExecution()); err != nil {
			return 0, err
		}
		removed++
	}
	var others []*commonpb.WorkflowExecution
	query := fmt.Sprintf("%s = '%s'", contract.AttrConversationID, conversationID)
	for e, err := range s.list(ctx, query) {
		if err != nil {
			return removed, err
		}
		others = append(others, e.GetExecution())
	}
	for _, e := range others {
		if err := s.remove(ctx, e); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// eraseFile removes the file of a conversation, and what interrupted exports have left of it.
func (d *Deletions) eraseFile(conversationID string) error {
	name := contract.ConversationFile(conversationID)
	files, err := os.ReadDir(d.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for the file of a conversation: %w", err)
	}
	for _, f := range files {
		if f.Name() != name && !strings.HasPrefix(f.Name(), "."+name+"-") {
			continue
		}
		if err := os.Remove(filepath.Join(d.Dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the file of a conversation: %w", err)
		}
	}
	return nil
}
