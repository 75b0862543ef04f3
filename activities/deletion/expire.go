package deletion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"agent-stop-and-go/activities/heartbeat"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

const (
	// parallel is how many conversations are deleted at a time.
	parallel = 16
	// patience is how long one deletion is waited for. It goes on afterwards.
	patience = 5 * time.Minute
)

// Expire deletes the conversations that have not changed for longer than After. It keeps those
// in which an approval waits or a turn runs. When it is repeated, it joins the deletions that its
// predecessor has started.
func (d *Deletions) Expire(ctx context.Context, in deletion.UpkeepInput) (out deletion.Expired, err error) {
	if d.After <= 0 {
		return out, nil
	}
	defer heartbeat.Send(ctx)()
	e := &expiry{Deletions: d, server: serverOf(ctx), before: d.Now().Add(-d.After), dry: in.DryRun}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	if err = e.eachOld(ctx, func(id string) {
		group.Go(func() error { return e.delete(ctx, id) })
	}); err != nil {
		return out, errors.Join(err, group.Wait())
	}
	err = group.Wait()
	return deletion.Expired{Deleted: int(e.deleted.Load()), Waiting: int(e.waiting.Load()), Pending: int(e.pending.Load())}, err
}

type expiry struct {
	*Deletions
	server                    server
	before                    time.Time
	dry                       bool
	deleted, waiting, pending atomic.Int64
}

// eachOld calls f with the IDs of old conversations: those that the server has, and those of
// which only the file is left.
func (e *expiry) eachOld(ctx context.Context, f func(id string)) error {
	query := fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus != 'ContinuedAsNew' AND TaskQueue = '%s' AND StartTime < '%s'",
		contract.WorkflowConversation, e.server.taskQueue, e.before.UTC().Format(time.RFC3339))
	for info, err := range e.server.list(ctx, query) {
		if err != nil {
			return fmt.Errorf("list old conversations: %w", err)
		}
		id, ok := contract.ConversationIDOf(info.GetExecution().GetWorkflowId())
		switch {
		case !ok || !lastChange(info).Before(e.before):
		case runs(info) && waits(info):
			e.waiting.Add(1)
		default:
			f(id)
		}
	}
	files, err := os.ReadDir(e.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list the files of conversations: %w", err)
	}
	for _, file := range files {
		id, ok := conversationOf(file.Name())
		if !ok {
			continue
		}
		stat, err := file.Info()
		if err != nil || !stat.ModTime().Before(e.before) {
			continue
		}
		if info, err := e.server.describe(ctx, contract.ConversationWorkflowID(id)); err == nil && info == nil {
			f(id)
		}
	}
	return nil
}

// conversationOf returns the ID of the conversation whose file has a name.
func conversationOf(name string) (id string, ok bool) {
	id, _ = strings.CutPrefix(strings.TrimSuffix(name, ".json"), "conversation_")
	return id, contract.IsUUID(id) && name == contract.ConversationFile(id)
}

// lastChange is the time that lists show, which may be up to a minute too early.
func lastChange(info *workflowpb.WorkflowExecutionInfo) time.Time {
	at := info.GetStartTime().AsTime()
	if changed, err := time.Parse(time.RFC3339Nano, textOf(info.GetMemo().GetFields()[contract.MemoUpdatedAt])); err == nil && changed.After(at) {
		at = changed
	}
	if closed := info.GetCloseTime(); closed != nil && closed.AsTime().After(at) {
		at = closed.AsTime()
	}
	return at
}

func (e *expiry) delete(ctx context.Context, id string) error {
	if e.dry {
		e.deleted.Add(1)
		return nil
	}
	run, err := e.server.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: deletion.WorkflowID(id), TaskQueue: e.server.taskQueue,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            "deletion of an old conversation",
	}, deletion.Workflow, deletion.Input{ConversationID: id, Cause: deletion.CauseAge, UnchangedSince: e.before.UTC(), At: e.Now().UTC()})
	if err != nil {
		return fmt.Errorf("start the deletion of %s: %w", id, err)
	}
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var result deletion.Result
	err = run.Get(wait, &result)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case wait.Err() != nil:
		e.pending.Add(1)
	case err != nil:
		return fmt.Errorf("delete %s: %w", id, err)
	case result.Tombstone != nil:
		e.deleted.Add(1)
	default:
		e.waiting.Add(1)
	}
	return nil
}
