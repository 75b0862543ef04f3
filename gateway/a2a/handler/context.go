package handler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"golang.org/x/sync/errgroup"

	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// postWithoutTask carries out a message that names no task. An answer that names its
// approval goes to the task of that approval. Where exactly one task of the context
// waits, a text neither decides nor starts anything: the sender probably means that task,
// and the reply says how to answer it. Anything else starts a task.
func (h *Handler) postWithoutTask(ctx context.Context, req *a2a.SendMessageRequest, in message) (sentMessage, error) {
	m := req.Message
	if err := checkContext(m.ContextID); err != nil {
		return sentMessage{}, err
	}
	uuid := task.Addressee(m)
	if id, err := h.taskOfApproval(ctx, uuid); err != nil || id != "" {
		return h.redirected(ctx, req, in, id, err)
	}
	waiting, err := h.waitingIn(ctx, m.ContextID)
	switch {
	case err != nil:
		return sentMessage{}, err
	case len(waiting) == 1 && uuid != "":
		return h.redirected(ctx, req, in, waiting[0].ID, nil)
	case uuid != "":
		return sentMessage{}, a2a.NewError(a2a.ErrInvalidParams, "no approval "+service.Printable(uuid)+" waits here")
	case len(waiting) == 1:
		return h.suggest(ctx, req, in, waiting[0])
	}
	return h.begin(ctx, req, in)
}

// redirected carries the message out as if it had named the task.
func (h *Handler) redirected(ctx context.Context, req *a2a.SendMessageRequest, in message, id string, err error) (sentMessage, error) {
	if err != nil {
		return sentMessage{}, err
	}
	named, m := *req, *req.Message
	m.TaskID, named.Message = a2a.TaskID(id), &m
	return h.postToTask(ctx, &named, in)
}

// taskOfApproval is the task that has, or had, the approval; "" if there is none.
func (h *Handler) taskOfApproval(ctx context.Context, uuid string) (string, error) {
	if uuid = strings.ToLower(uuid); !contract.IsUUID(uuid) {
		return "", nil
	}
	subject, err := h.service.Subject(ctx, uuid)
	if service.IsKind(err, contract.KindNotFound) {
		return "", nil
	}
	return subject.ConversationID, err
}

// suggest answers with the task that waits, unless the message has begun a task before.
func (h *Handler) suggest(ctx context.Context, req *a2a.SendMessageRequest, in message, waits contract.ConversationView) (sentMessage, error) {
	own := newTaskID(callerOf(ctx), req.Message, in)
	_, err := h.service.Conversation(ctx, own, "")
	switch {
	case err == nil:
		return h.begin(ctx, req, in)
	case !service.IsKind(err, contract.KindNotFound):
		return sentMessage{}, err
	}
	request.From(ctx).ConversationID = waits.ID
	return sentMessage{Request: service.Request{ConversationID: waits.ID}, least: waits, hint: fmt.Sprintf(
		"Task %s of this context waits for an answer. This message names no task, so it decided nothing and began nothing. "+
			"Send the answer with the taskId %q, and messages about anything else in another context.", waits.ID, waits.ID)}, nil
}

// maxInContext is how many tasks of a context are looked at, the newest ones.
const maxInContext = 20

// waitingIn are the tasks of a context that wait for an answer.
func (h *Handler) waitingIn(ctx context.Context, contextID string) ([]contract.ConversationView, error) {
	if contextID == "" {
		return nil, nil
	}
	ids, err := h.service.RunningIn(ctx, contextID, maxInContext)
	if err != nil {
		return nil, err
	}
	for _, id := range h.recent.in(contextID) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	views := make([]contract.ConversationView, len(ids))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(tasksAtOnce)
	for i, id := range ids {
		reads.Go(func() (err error) {
			if views[i], err = h.service.Conversation(ctx, id, ""); service.IsKind(err, contract.KindNotFound) {
				return nil
			}
			return err
		})
	}
	err = reads.Wait()
	return slices.DeleteFunc(views, func(v contract.ConversationView) bool { return len(v.Pending) == 0 }), err
}

// Visibility lists a task up to half a second after its start.
const (
	recentTime = 5 * time.Second
	maxRecent  = 4096
)

// recentTasks are those that this gateway has begun, as long as visibility may not list
// them. Tasks that another gateway has begun are found a little later.
type recentTasks struct {
	now func() time.Time

	mu   sync.Mutex
	list []recentTask
}

type recentTask struct {
	contextID, id string
	at            time.Time
}

func (r *recentTasks) add(contextID, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	if len(r.list) == maxRecent {
		r.list = r.list[1:]
	}
	r.list = append(r.list, recentTask{contextID, id, r.now()})
}

// in are the IDs of the tasks of a context, the newest ones.
func (r *recentTasks) in(contextID string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	var out []string
	for _, t := range slices.Backward(r.list) {
		if t.contextID == contextID && len(out) < maxInContext {
			out = append(out, t.id)
		}
	}
	return out
}

func (r *recentTasks) expire() {
	oldest := r.now().Add(-recentTime)
	i := slices.IndexFunc(r.list, func(t recentTask) bool { return t.at.After(oldest) })
	if i < 0 {
		i = len(r.list)
	}
	r.list = r.list[i:]
}
