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

// postWithoutTask carries out a message that names no task. An answer that names its approval
// goes to that approval's task. If exactly one task of the context waits, a text neither
// decides nor starts anything: the sender probably means that task, and the reply says how to
// answer it. Any other message starts a task, which continues the tasks that the message references
// (references.go).
func (h *Handler) postWithoutTask(ctx context.Context, req *a2a.SendMessageRequest, in message) (sentMessage, error) {
	m := req.Message
	if err := checkContext(m.ContextID); err != nil {
		return sentMessage{}, err
	}
	uuid := task.Addressee(m)
	if id, err := h.taskOfApproval(ctx, uuid); err != nil || id != "" {
		return h.postAs(ctx, req, in, id, err)
	}
	earlier, err := h.referenced(ctx, m.ReferenceTasks)
	if err != nil {
		return sentMessage{}, err
	}
	if len(earlier) > 0 && uuid == "" {
		return h.continueContext(ctx, req, in, earlier)
	}
	waiting, err := h.waitingIn(ctx, m.ContextID)
	switch {
	case err != nil:
		return sentMessage{}, err
	case len(waiting) == 1 && uuid != "":
		return h.postAs(ctx, req, in, waiting[0].ID, nil)
	case uuid != "":
		return sentMessage{}, a2a.NewError(a2a.ErrInvalidParams, "no approval "+service.Printable(uuid)+" waits here")
	case len(waiting) == 1:
		return h.suggest(ctx, req, in, waiting[0])
	}
	return h.startTask(ctx, req, in)
}

// postAs carries out the message as if it had named the task with the ID.
func (h *Handler) postAs(ctx context.Context, req *a2a.SendMessageRequest, in message, id string, err error) (sentMessage, error) {
	if err != nil {
		return sentMessage{}, err
	}
	named, m := *req, *req.Message
	m.TaskID, named.Message = a2a.TaskID(id), &m
	return h.postToTask(ctx, &named, in)
}

// taskOfApproval returns the ID of the task that has, or had, the approval, or "".
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

// suggest replies with the waiting task and a hint, unless the message has started a task
// before.
func (h *Handler) suggest(ctx context.Context, req *a2a.SendMessageRequest, in message, waits contract.ConversationView) (sentMessage, error) {
	own, err := h.newTaskID(ctx, req.Message, in)
	if err != nil {
		return sentMessage{}, err
	}
	_, err = h.service.Conversation(ctx, own, "")
	switch {
	case err == nil:
		return h.startTask(ctx, req, in)
	case !service.IsKind(err, contract.KindNotFound):
		return sentMessage{}, err
	}
	request.From(ctx).ConversationID = waits.ID
	return sentMessage{Request: service.Request{ConversationID: waits.ID}, latest: waits, hint: fmt.Sprintf(
		"Task %s of this context waits for an answer. This message names no task, so it decided nothing and began nothing. "+
			"Send the answer with the taskId %q, and messages about anything else in another context.", waits.ID, waits.ID)}, nil
}

// maxInContext limits how many tasks of a context are examined, newest first.
const maxInContext = 20

// waitingIn returns the tasks of a context that wait for an answer.
func (h *Handler) waitingIn(ctx context.Context, contextID string) ([]contract.ConversationView, error) {
	if contextID == "" {
		return nil, nil
	}
	ids, err := h.service.RunningIn(ctx, contextID, maxInContext)
	if err != nil {
		return nil, err
	}
	for _, id := range h.recent.in(callerOf(ctx).Own(contextID)) {
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

// recentTasks are the tasks that this gateway started, kept until visibility surely lists
// them. Tasks that another gateway started are found a little later.
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

// in returns the IDs of the recent tasks of a context, newest first.
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
