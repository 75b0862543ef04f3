package handler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// maxBlocking limits how long a client waits for a working task. After that it gets the task
// as it is.
const maxBlocking = 10 * time.Minute

// sentMessage is a message that was carried out, with what is needed to wait for its result.
type sentMessage struct {
	// Request identifies the turn that settles the message. Its ID is empty if no turn does;
	// its fingerprint is empty for a cancellation.
	service.Request
	latest     contract.ConversationView
	accepted   *contract.ConversationView // the task that the message started, before any work
	decided    []string                   // UUIDs of the approvals that it decided
	settlement *service.Settlement        // set if it was settled before
	hint       string                     // why nothing was done; then there is no result to wait for
}

// Send implements protocol.Handler. A message ID that was used before means the same message.
// A client that does not wait for a new task gets it in its first state, also when it sends
// the message again; GetTask shows the current state.
func (h *Handler) Send(ctx context.Context, req *a2a.SendMessageRequest) (*a2a.Task, error) {
	m, err := h.post(ctx, req)
	if err != nil {
		return nil, h.failureAfter(ctx, m, err)
	}
	config := req.Config
	if config == nil {
		config = &a2a.SendMessageConfig{}
	}
	o := shape(ctx, config.HistoryLength)
	o.Hint = m.hint
	if config.ReturnImmediately && m.accepted != nil {
		return h.task(ctx, *m.accepted, o)
	}
	view, err := h.awaitResult(ctx, m, config.ReturnImmediately)
	if err != nil {
		return nil, h.failureAfter(ctx, m, err)
	}
	t, err := h.task(ctx, view, o)
	if err != nil && ctx.Err() == nil { // the message was carried out even so
		h.logger.Error("a task cannot be read", "conversation", m.ConversationID, "error", err)
		return h.unreadable(m.ConversationID, view, o, err), nil
	}
	return t, err
}

// failureAfter is failure for a message that may have decided approvals before it failed. An
// A2A error is a refusal and is returned unchanged.
func (h *Handler) failureAfter(ctx context.Context, m sentMessage, err error) error {
	err = h.service.WithCause(ctx, err)
	if len(m.decided) == 0 || ctx.Err() != nil || errors.Is(err, service.ErrClosing) || errors.As(err, new(*a2a.Error)) {
		return toA2AError(err)
	}
	return a2a.NewError(a2a.ErrServerError, fmt.Sprintf(
		"the decision was taken, and what it approved may have run; how the task is cannot be read now (%s); ask for it with GetTask", service.Problem(err)))
}

// awaitResult returns the conversation once the message has been answered, or the current one
// if now is set or the wait takes too long.
func (h *Handler) awaitResult(ctx context.Context, m sentMessage, now bool) (contract.ConversationView, error) {
	if !now && m.hint == "" {
		wait, cancel := context.WithTimeout(ctx, maxBlocking)
		defer cancel()
		view, err := h.awaitIdle(wait, m)
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, service.ErrClosing) {
			return view, err
		}
	}
	return h.conversation(ctx, a2a.TaskID(m.ConversationID), "")
}

// awaitIdle waits until the message has been answered and the task is idle: another message
// may be queued after it.
func (h *Handler) awaitIdle(ctx context.Context, m sentMessage) (contract.ConversationView, error) {
	if m.ID != "" {
		settled, err := h.settlementOf(ctx, m)
		if err == nil {
			err = m.refusal(settled.Outcome)
		}
		cancelled := m.Fingerprint == "" // a cancellation does not wait for queued messages
		if err != nil || cancelled || m.isIdle(settled.View) {
			return settled.View, err
		}
	}
	r, err := h.followers.JoinCommitted(ctx, m.ConversationID, true)
	if err != nil {
		return contract.ConversationView{}, err
	}
	defer h.followers.Leave(r)
	r.RequestRead()
	var view contract.ConversationView
	err = r.Await(ctx, h.service.Closing(), func(now *record.State) bool {
		view = now.View
		return m.isIdle(view)
	})
	return view, err
}

// settlementOf waits until a message is settled, unless its settlement is known.
func (h *Handler) settlementOf(ctx context.Context, m sentMessage) (service.Settlement, error) {
	if m.settlement != nil {
		return *m.settlement, nil
	}
	if r := m.latest.Request; r != nil && r.Settled && r.ID == m.ID {
		return service.Settlement{Outcome: *r, View: m.latest}, nil
	}
	return h.service.Await(ctx, m.Request)
}

// refusal returns the reason why a message was not accepted, or nil.
func (m sentMessage) refusal(r contract.Request) error {
	switch {
	case m.Fingerprint != "" && r.Fingerprint != "" && m.Fingerprint != r.Fingerprint:
		return a2a.NewError(a2a.ErrInvalidParams, "the messageId was used for a message of another content; a new message needs a new one")
	case r.Refused == "":
		return nil
	case r.Refused == contract.KindCompleted:
		return taskIsOver()
	case r.Refused == contract.KindWaiting:
		return a2a.NewError(a2a.ErrUnsupportedOperation,
			"the message was not taken, because an approval waits: answer that first, and send the message again with a new messageId")
	}
	if r.Result != nil {
		return toA2AError(service.Errorf(r.Refused, "the message was not taken: %s", r.Result.Response.Short()))
	}
	return a2a.NewError(a2a.ErrUnsupportedOperation, "the task cannot take the message now: "+string(r.Refused))
}

func taskIsOver() error {
	return a2a.NewError(a2a.ErrUnsupportedOperation, "the task is over and takes no more messages; send the message without a task ID to begin a new task")
}

// post carries out a message. It finishes even if the client disconnects.
func (h *Handler) post(ctx context.Context, req *a2a.SendMessageRequest) (sentMessage, error) {
	in, err := readMessage(req.Message)
	if err != nil {
		return sentMessage{}, err
	}
	if req.Message.TaskID == "" {
		return h.postWithoutTask(ctx, req, in)
	}
	return h.postToTask(ctx, req, in)
}

// postToTask carries out a message that names its task.
func (h *Handler) postToTask(ctx context.Context, req *a2a.SendMessageRequest, in message) (sentMessage, error) {
	requestID := requestIDOf(callerOf(ctx), string(req.Message.TaskID), req.Message.ID)
	view, err := h.conversation(ctx, req.Message.TaskID, requestID)
	if err != nil {
		return sentMessage{}, err
	}
	if c := req.Message.ContextID; c != "" && c != view.ContextID && c != view.ID {
		return sentMessage{}, a2a.NewError(a2a.ErrInvalidParams, "the task is not of the context "+service.Printable(c))
	}
	m := sentMessage{Request: requestOf(view.ID, requestID, in), latest: view}
	old := protocol.CallOf(ctx).Dialect == protocol.Old
	switch {
	case view.Request != nil:
		return m.repeated(*view.Request)
	case view.TaskState().Over() && (!old || view.Status == contract.StatusCompleted):
		return m, taskIsOver()
	}
	if len(view.Pending) > 0 {
		return h.answer(ctx, req, m, in)
	}
	return h.continueTask(ctx, req, m, in)
}

func requestOf(id, requestID string, in message) service.Request {
	return service.Request{ConversationID: id, ID: requestID, Repeatable: true, Fingerprint: in.sum()[:16]}
}

// repeated handles a message whose ID was used before. Decisions have no fingerprint, so the
// new message may differ from the first.
func (m sentMessage) repeated(r contract.Request) (sentMessage, error) {
	if r.Fingerprint == "" && len(m.latest.Pending) > 0 {
		m.hint = "A message of this messageId was sent before, and nothing more has been decided; a new answer needs a new messageId."
	}
	return m, m.refusal(r)
}

// startTask starts a conversation for a message without a task.
func (h *Handler) startTask(ctx context.Context, req *a2a.SendMessageRequest, in message) (sentMessage, error) {
	id, err := h.newTaskID(ctx, req.Message, in)
	if err != nil {
		return sentMessage{}, err
	}
	request.From(ctx).ConversationID = id
	first := in.serviceMessage()
	m := sentMessage{Request: requestOf(id, requestIDOf(callerOf(ctx), id, req.Message.ID), in)}
	start := service.NewConversation{
		Request: m.Request, Message: &first, Chain: in.chain, ContextID: req.Message.ContextID,
		Task: protocol.CallOf(ctx).Dialect != protocol.Old, Push: pushOfMessage(ctx, req),
	}
	if start.ContextID == "" && start.Task {
		start.ContextID = contract.NameUUID(id, "context")
	}
	opened, err := h.service.Start(ctx, callerOf(ctx), start)
	m.accepted = &opened.View
	if err == nil && start.Task {
		h.recent.add(callerOf(ctx).Own(start.ContextID), id)
	}
	return m, err
}

// newTaskID derives the ID of a new task from its message, so that a repeated message names
// the same task.
func (h *Handler) newTaskID(ctx context.Context, m *a2a.Message, in message) (string, error) {
	c := callerOf(ctx)
	parts := []string{c.Own(m.ID), m.ContextID, in.sum()}
	if !c.Authenticated() {
		parts = append(parts, contract.Hash([]byte(c.Token)))
	}
	return h.service.OwnID(ctx, "a2a task", strings.Join(parts, "\n"))
}

// requestIDOf derives a request ID from the message ID of a caller.
func requestIDOf(c service.Caller, id, messageID string) string {
	return contract.NameUUID(id, "a2a "+c.Own(messageID))
}

// continueTask sends another message to a conversation, with its webhook if it has one.
func (h *Handler) continueTask(ctx context.Context, req *a2a.SendMessageRequest, m sentMessage, in message) (sentMessage, error) {
	var err error
	if hook := pushOfMessage(ctx, req); hook != nil {
		m.settlement, err = h.service.SendWithPush(ctx, callerOf(ctx), m.Request, in.serviceMessage(), *hook)
	} else {
		m.settlement, err = h.service.Send(ctx, callerOf(ctx), m.Request, in.serviceMessage())
	}
	switch {
	case service.IsKind(err, contract.KindCompleted):
		return m, taskIsOver()
	case err == nil && m.settlement != nil:
		return m, m.refusal(m.settlement.Outcome)
	}
	return m, err
}

// includesDecisions reports whether a view contains everything that the message decided and
// is not older than the latest known one.
func (m sentMessage) includesDecisions(view contract.ConversationView) bool {
	return !live.Older(view, m.latest) && !slices.ContainsFunc(view.Pending, func(a contract.PendingApproval) bool {
		return slices.Contains(m.decided, a.UUID)
	})
}

// isIdle reports whether view includes the message's decisions and no turn runs.
func (m sentMessage) isIdle(view contract.ConversationView) bool {
	return m.includesDecisions(view) && isIdle(view)
}

func isIdle(view contract.ConversationView) bool { return view.TaskState() != contract.TaskWorking }
