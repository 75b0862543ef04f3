package handler

import (
	"context"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Get implements protocol.Handler.
func (h *Handler) Get(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	view, err := h.conversation(ctx, req.ID, "")
	if err != nil {
		return nil, err
	}
	return h.task(ctx, view, shape(ctx, req.HistoryLength))
}

// Cancel implements protocol.Handler. It returns when the work has stopped.
func (h *Handler) Cancel(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	view, err := h.conversation(ctx, req.ID, "")
	if err != nil {
		return nil, err
	}
	if view.TaskState().Over() {
		return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "the task is over: "+string(view.TaskState()))
	}
	m := sentMessage{Request: service.Request{ConversationID: view.ID, ID: uuid.NewString()}}
	m.settlement, err = h.service.CancelTurn(ctx, callerOf(ctx), m.Request, service.Note{Reason: "cancelled over A2A"})
	if service.IsKind(err, contract.KindCompleted) {
		return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "the task is over")
	}
	if err != nil {
		return nil, h.failure(ctx, err)
	}
	if view, err = h.awaitResult(ctx, m, false); err != nil {
		return nil, h.failure(ctx, err)
	}
	if state := view.TaskState(); state.Over() && state != contract.TaskCanceled {
		return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "the task is over: "+string(state))
	}
	return h.task(ctx, view, shape(ctx, nil))
}

// defaultTasks is the default size of a page of tasks. tasksAtOnce tasks are read
// concurrently.
const (
	defaultTasks = 50
	tasksAtOnce  = 8
)

// List implements protocol.Handler. It lists the conversations that were started over A2A:
// running ones first, then ended ones, each newest first.
func (h *Handler) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	q, err := taskQuery(req)
	if err != nil {
		return nil, err
	}
	page, err := h.service.Tasks(ctx, q)
	if err != nil {
		return nil, h.failure(ctx, err)
	}
	out := &a2a.ListTasksResponse{
		Tasks: []*a2a.Task{}, TotalSize: int(page.Total), PageSize: q.Limit, NextPageToken: request.EncodeCursor(page.Next),
	}
	o := shape(ctx, req.HistoryLength)
	o.NoArtifacts = !req.IncludeArtifacts
	list, err := h.read(ctx, page.IDs, o)
	for _, t := range list {
		late := req.StatusTimestampAfter == nil || !t.Status.Timestamp.Before(*req.StatusTimestampAfter)
		unknown := t.Status.State == a2a.TaskStateUnspecified
		if late && (req.Status == "" || req.Status == t.Status.State || unknown) {
			out.Tasks = append(out.Tasks, t)
		}
	}
	slices.SortStableFunc(out.Tasks, func(a, b *a2a.Task) int { return b.Status.Timestamp.Compare(*a.Status.Timestamp) })
	return out, h.failure(ctx, err)
}

func taskQuery(req *a2a.ListTasksRequest) (service.TaskQuery, error) {
	q := service.TaskQuery{ContextID: req.ContextID, Limit: req.PageSize, After: req.StatusTimestampAfter}
	if q.Limit == 0 {
		q.Limit = defaultTasks
	}
	if err := checkContext(req.ContextID); err != nil {
		return q, err
	}
	var ok bool
	if q.Token, ok = request.DecodeCursor(req.PageToken); !ok {
		return q, a2a.NewError(a2a.ErrInvalidParams, "pageToken: expected the nextPageToken of an earlier page")
	}
	if req.Status == "" {
		return q, nil
	}
	if q.State, ok = task.StateNamed(req.Status); !ok {
		return q, a2a.NewError(a2a.ErrInvalidParams, "status: no such state: "+service.Printable(string(req.Status)))
	}
	return q, nil
}

// read reads tasks. Deleted tasks are left out. A task that cannot be read is included with
// what is known about it.
func (h *Handler) read(ctx context.Context, ids []string, o task.Shape) ([]*a2a.Task, error) {
	list := make([]*a2a.Task, len(ids))
	reads, whole := errgroup.WithContext(ctx)
	reads.SetLimit(tasksAtOnce)
	for i, id := range ids {
		reads.Go(func() error {
			ctx, cancel := context.WithTimeout(whole, service.MemberTimeout)
			defer cancel()
			view, err := h.service.Conversation(ctx, id, "")
			if service.IsKind(err, contract.KindNotFound) {
				return nil
			}
			if err == nil {
				list[i], err = h.task(ctx, view, o)
			}
			if err != nil && whole.Err() == nil {
				h.logger.Error("a task of a list cannot be read", "conversation", id, "error", err)
				list[i], err = h.unreadable(id, view, o, err), nil
			}
			return err
		})
	}
	err := reads.Wait()
	return slices.DeleteFunc(list, func(t *a2a.Task) bool { return t == nil }), err
}

// metadataProblem is the key in a task's metadata for the reason why the task is incomplete.
const metadataProblem = "agent-stop-and-go/problem"

// unreadable returns what is known about a task that cannot be read. If view is empty, only
// its existence is known.
func (h *Handler) unreadable(id string, view contract.ConversationView, o task.Shape, why error) *a2a.Task {
	known := view.ID != ""
	if !known {
		view.ID, view.UpdatedAt = id, h.now()
	}
	t := task.NewSource(record.State{View: view}, h.agent, "").Task(o)
	if !known {
		t.Status.State, t.Status.Message = a2a.TaskStateUnspecified, nil
	}
	t.Metadata = map[string]any{metadataProblem: service.Problem(why)}
	return t
}
