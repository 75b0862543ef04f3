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

// maxBlocking is how long a client may wait for a task that is at work. Then it gets
// the task as it is.
const maxBlocking = 10 * time.Minute

// sentMessage is a message that has been carried out: what settles it, and how the
// conversation is known to be at least.
type sentMessage struct {
	// Request has no ID if nothing settles it, and no fingerprint if it is a cancellation.
	service.Request
	least    contract.ConversationView
	accepted *contract.ConversationView // the task that the message began, before any work
	decided  []string                   // approvals
	known    *service.Settlement        // when it was there before
	hint     string                     // why nothing was done; there is nothing to wait for then
}

// Send implements protocol.Handler. A message whose ID was sent before is the same
// message. A client that does not wait for a new task learns that it was accepted,
// also when it sends the message again: GetTask shows how the task is.
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
	view, err := h.reached(ctx, m, config.ReturnImmediately)
	if err != nil {
		return nil, h.failureAfter(ctx, m, err)
	}
	t, err := h.task(ctx, view, o)
	if err != nil && ctx.Err() == nil { // the message was carried out all the same
		h.logger.Error("a task cannot be read", "conversation", m.ConversationID, "error", err)
		return h.unreadable(m.ConversationID, view, o, err), nil
	}
	return t, err
}

// failureAfter is failure, with what the message has decided before. An error of the protocol's
// own is a refusal, and says all itself.
func (h *Handler) failureAfter(ctx context.Context, m sentMessage, err error) error {
	err = h.service.WithCause(ctx, err)
	if len(m.decided) == 0 || ctx.Err() != nil || errors.Is(err, service.ErrClosing) || errors.As(err, new(*a2a.Error)) {
		return toA2AError(err)
	}
	return a2a.NewError(a2a.ErrServerError, fmt.Sprintf(
		"the decision was taken, and what it approved may have run; how the task is cannot be read now (%s); ask for it with GetTask", service.Problem(err)))
}

// reached is the conversation when the message has been answered, or as it is by now.
func (h *Handler) reached(ctx context.Context, m sentMessage, now bool) (contract.ConversationView, error) {
	if !now && m.hint == "" {
		wait, cancel := context.WithTimeout(ctx, maxBlocking)
		defer cancel()
		view, err := h.answered(wait, m)
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, service.ErrClosing) {
			return view, err
		}
	}
	return h.conversation(ctx, a2a.TaskID(m.ConversationID), "")
}

// answered waits until the message has been answered, and on until the task rests: there
// may be another message behind it.
func (h *Handler) answered(ctx context.Context, m sentMessage) (contract.ConversationView, error) {
	if m.ID != "" {
		settled, err := h.settlementOf(ctx, m)
		if err == nil {
			err = m.refusal(settled.Outcome)
		}
		cancelled := m.Fingerprint == "" // which nothing that is queued matters to
		if err != nil || cancelled || m.rests(settled.View) {
			return settled.View, err
		}
	}
	r, err := h.followers.JoinCommitted(m.ConversationID, true)
	if err != nil {
		return contract.ConversationView{}, err
	}
	defer h.followers.Leave(r)
	r.RequestRead()
	var view contract.ConversationView
	err = r.Await(ctx, h.service.Closing(), func(now *record.State) bool {
		view = now.View
		return m.rests(view)
	})
	return view, err
}

// settlementOf waits for what settles a message, unless that is known.
func (h *Handler) settlementOf(ctx context.Context, m sentMessage) (service.Settlement, error) {
	if m.known != nil {
		return *m.known, nil
	}
	if r := m.least.Request; r != nil && r.Settled && r.ID == m.ID {
		return service.Settlement{Outcome: *r, View: m.least}, nil
	}
	return h.service.Await(ctx, m.Request)
}

// refusal is why a message was not taken, or nil.
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

// post carries a message out, which does not end when the client goes away.
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
	requestID := contract.NameUUID(string(req.Message.TaskID), "a2a "+req.Message.ID)
	view, err := h.conversation(ctx, req.Message.TaskID, requestID)
	if err != nil {
		return sentMessage{}, err
	}
	if c := req.Message.ContextID; c != "" && c != view.ContextID && c != view.ID {
		return sentMessage{}, a2a.NewError(a2a.ErrInvalidParams, "the task is not of the context "+service.Printable(c))
	}
	m := sentMessage{Request: requestOf(view.ID, requestID, in), least: view}
	old := protocol.CallOf(ctx).Dialect == protocol.Old
	switch {
	case view.Request != nil:
		return m.repeated(*view.Request)
	case view.TaskState().Over() && (!old || view.Status == contract.StatusCompleted):
		return m, taskIsOver()
	}
	if len(view.Pending) > 0 {
		return h.answer(ctx, req, m)
	}
	return h.continueTask(ctx, req, m, in)
}

// requestOf is the request of a message.
func requestOf(id, requestID string, in message) service.Request {
	return service.Request{ConversationID: id, ID: requestID, Repeatable: true, Fingerprint: in.sum()[:16]}
}

// repeated handles a message whose ID was used before. A decision leaves no fingerprint: its
// message may have said something else.
func (m sentMessage) repeated(r contract.Request) (sentMessage, error) {
	if r.Fingerprint == "" && len(m.least.Pending) > 0 {
		m.hint = "A message of this messageId was sent before, and nothing more has been decided; a new answer needs a new messageId."
	}
	return m, m.refusal(r)
}

// begin starts a conversation for a message of no task.
func (h *Handler) begin(ctx context.Context, req *a2a.SendMessageRequest, in message) (sentMessage, error) {
	id := newTaskID(callerOf(ctx), req.Message, in)
	request.From(ctx).ConversationID = id
	first := in.forService()
	m := sentMessage{Request: requestOf(id, contract.NameUUID(id, "a2a "+req.Message.ID), in)}
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
		h.recent.add(start.ContextID, id)
	}
	return m, err
}

// newTaskID is the ID of the task that a message begins, however often it is sent.
func newTaskID(c service.Caller, m *a2a.Message, in message) string {
	return contract.NameUUID("a2a task", strings.Join([]string{m.ID, m.ContextID, in.sum(), contract.Hash([]byte(c.Token))}, "\n"))
}

// continueTask sends one more message to a conversation, with the webhook that it brings.
func (h *Handler) continueTask(ctx context.Context, req *a2a.SendMessageRequest, m sentMessage, in message) (sentMessage, error) {
	var err error
	if hook := pushOfMessage(ctx, req); hook != nil {
		m.known, err = h.service.SendWithPush(ctx, callerOf(ctx), m.Request, in.forService(), *hook)
	} else {
		m.known, err = h.service.Send(ctx, callerOf(ctx), m.Request, in.forService())
	}
	switch {
	case service.IsKind(err, contract.KindCompleted):
		return m, taskIsOver()
	case err == nil && m.known != nil:
		return m, m.refusal(m.known.Outcome)
	}
	return m, err
}

// hasCounted reports whether a conversation has heard of all that was decided, and is not
// older than it was before.
func (m sentMessage) hasCounted(view contract.ConversationView) bool {
	return !live.Older(view, m.least) && !slices.ContainsFunc(view.Pending, func(a contract.PendingApproval) bool {
		return slices.Contains(m.decided, a.UUID)
	})
}

// rests reports whether nobody is at work on the task, because it has ended or waits for
// the client.
func (m sentMessage) rests(view contract.ConversationView) bool {
	return m.hasCounted(view) && rests(view)
}

func rests(view contract.ConversationView) bool { return view.TaskState() != contract.TaskWorking }
