package gateway

import (
	"context"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"golang.org/x/sync/errgroup"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/tasks/story"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Get implements tasks.Handler.
func (s a2aServer) Get(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	view, err := s.conversation(ctx, req.ID, "")
	if err != nil {
		return nil, err
	}
	return s.task(ctx, view, s.shape(ctx, req.HistoryLength))
}

// Cancel implements tasks.Handler. It returns when the work has stopped.
func (s a2aServer) Cancel(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	view, err := s.conversation(ctx, req.ID, "")
	if err != nil {
		return nil, err
	}
	if view.TaskState().Over() {
		return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "the task is over: "+string(view.TaskState()))
	}
	c := echoOf(ctx)
	send, cancel := sending(c)
	defer cancel()
	p := posted{id: view.ID, requestID: requestID(c, view.ID, "")}
	about := reasonBody{}
	if err := about.check(c); err != nil {
		return nil, s.failure(ctx, err)
	}
	in := contract.CancelSignal{RequestID: p.requestID, Reason: "cancelled over A2A", By: about.By}
	if p.known, err = s.deliver(send, view.ID, contract.SignalCancel, in, nil); service.IsKind(err, contract.KindCompleted) {
		return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "the task is over")
	}
	if err != nil {
		return nil, s.failure(ctx, err)
	}
	if view, err = s.reached(ctx, p, false); err != nil {
		return nil, s.failure(ctx, err)
	}
	if state := view.TaskState(); state.Over() && state != contract.TaskCanceled {
		return nil, a2a.NewError(a2a.ErrTaskNotCancelable, "the task is over: "+string(state))
	}
	return s.task(ctx, view, s.shape(ctx, nil))
}

// A list of tasks has pages of defaultTasks unless the client says otherwise, and as
// many at a time are read.
const (
	defaultTasks = 50
	tasksAtOnce  = 8
)

// List implements tasks.Handler. Tasks are what came over A2A, newest first: what
// runs, then what has ended.
func (s a2aServer) List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	q, err := taskQuery(req)
	if err != nil {
		return nil, err
	}
	page, err := s.Backend.Tasks(ctx, q)
	if err != nil {
		return nil, s.failure(ctx, err)
	}
	out := &a2a.ListTasksResponse{
		Tasks: []*a2a.Task{}, TotalSize: int(page.Total), PageSize: q.Limit, NextPageToken: encodeCursor(page.Next),
	}
	o := s.shape(ctx, req.HistoryLength)
	o.NoArtifacts = !req.IncludeArtifacts
	list, err := s.read(ctx, page.IDs, o)
	for _, t := range list {
		late := req.StatusTimestampAfter == nil || !t.Status.Timestamp.Before(*req.StatusTimestampAfter)
		unknown := t.Status.State == a2a.TaskStateUnspecified
		if late && (req.Status == "" || req.Status == t.Status.State || unknown) {
			out.Tasks = append(out.Tasks, t)
		}
	}
	slices.SortStableFunc(out.Tasks, func(a, b *a2a.Task) int { return b.Status.Timestamp.Compare(*a.Status.Timestamp) })
	return out, s.failure(ctx, err)
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
	if q.Token, ok = decodeCursor(req.PageToken); !ok {
		return q, a2a.NewError(a2a.ErrInvalidParams, "pageToken: expected the nextPageToken of an earlier page")
	}
	if req.Status == "" {
		return q, nil
	}
	if q.State, ok = story.StateNamed(req.Status); !ok {
		return q, a2a.NewError(a2a.ErrInvalidParams, "status: no such state: "+service.Printable(string(req.Status)))
	}
	return q, nil
}

// read reads tasks. What is gone is left out; a task that cannot be read is there with
// what is known of it.
func (s a2aServer) read(ctx context.Context, ids []string, o story.Shape) ([]*a2a.Task, error) {
	list := make([]*a2a.Task, len(ids))
	flights, whole := errgroup.WithContext(ctx)
	flights.SetLimit(tasksAtOnce)
	for i, id := range ids {
		flights.Go(func() error {
			ctx, cancel := context.WithTimeout(whole, memberTime)
			defer cancel()
			view, err := s.Backend.Conversation(ctx, id, "")
			if service.IsKind(err, contract.KindNotFound) {
				return nil
			}
			if err == nil {
				list[i], err = s.task(ctx, view, o)
			}
			if err != nil && whole.Err() == nil {
				s.Logger.Error("a task of a list cannot be read", "conversation", id, "error", err)
				list[i], err = s.unreadable(id, view, o, err), nil
			}
			return err
		})
	}
	err := flights.Wait()
	return slices.DeleteFunc(list, func(t *a2a.Task) bool { return t == nil }), err
}

// metadataProblem says in a task's metadata why not all of it is there.
const metadataProblem = "agent-stop-and-go/problem"

// unreadable is what is known of a task that cannot be read; of an empty view, that there
// is one.
func (s a2aServer) unreadable(id string, view contract.ConversationView, o story.Shape, why error) *a2a.Task {
	known := view.ID != ""
	if !known {
		view.ID, view.UpdatedAt = id, s.Now()
	}
	t := story.Of(record.State{View: view}, s.Agent, "").Task(o)
	if !known {
		t.Status.State, t.Status.Message = a2a.TaskStateUnspecified, nil
	}
	t.Metadata = map[string]any{metadataProblem: problemOf(why)}
	return t
}
