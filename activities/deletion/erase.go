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

	"agent-stop-and-go/activities/heartbeat"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

const (
	// erasePause is the time before the second look at the lists, which lag a little behind, and
	// eraseMaxPause that after many looks: a server with much to do takes its time.
	erasePause    = 500 * time.Millisecond
	eraseMaxPause = 10 * time.Second
	// eraseLooks is how many looks in a row must find nothing.
	eraseLooks = 2
	// eraseAgain is the time after which a run that is still there is removed once more.
	eraseAgain = time.Minute
)

// Erase removes what belongs to a conversation that has a tombstone, except stored values, which
// may belong to others too.
func (d *Deletions) Erase(ctx context.Context, t deletion.Tombstone) (out deletion.EraseResult, err error) {
	defer heartbeat.Send(ctx)()
	s := serverOf(ctx)
	if err := d.eraseFile(t.ConversationID); err != nil {
		return out, err
	}
	asked := removals{}
	for empty, pause := 0, erasePause; empty < eraseLooks; empty++ {
		there, err := s.erase(ctx, t.ConversationID, asked)
		if err != nil {
			return out, fmt.Errorf("remove the workflows: %w", err)
		}
		if there {
			empty, pause = -1, min(2*pause, eraseMaxPause)
		} else {
			pause = erasePause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
	if d.Audit != nil {
		if err := d.Audit.Deleted(ctx, t); err != nil {
			return out, err
		}
	}
	out.Workflows = len(asked)
	return out, nil
}

// removals says when the server was asked to remove a run, by run ID. It removes runs later, and
// asking again and again would only delay that.
type removals map[string]time.Time

// due reports whether the server has to be asked, and notes that it is.
func (r removals) due(run string) bool {
	if at, ok := r[run]; ok && time.Since(at) < eraseAgain {
		return false
	}
	r[run] = time.Now()
	return true
}

// erase removes all runs that are listed for a conversation, its own first: from then on it does
// not exist any more. It reports whether there were any.
func (s server) erase(ctx context.Context, conversationID string, asked removals) (there bool, err error) {
	info, err := s.describe(ctx, contract.ConversationWorkflowID(conversationID))
	if err != nil {
		return false, err
	}
	var found []*commonpb.WorkflowExecution
	if info != nil {
		found = append(found, info.GetExecution())
	}
	query := fmt.Sprintf("%s = '%s'", contract.AttrConversationID, conversationID)
	for e, err := range s.list(ctx, query) {
		if err != nil {
			return true, err
		}
		found = append(found, e.GetExecution())
	}
	for _, e := range found {
		if asked.due(e.GetRunId()) {
			if err := s.remove(ctx, e); err != nil {
				return true, err
			}
		}
	}
	return len(found) > 0, nil
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
