package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/tasks"
	"agent-stop-and-go/gateway/tasks/story"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// maxBlocking is how long a client may wait for a task that is at work. Then it gets
// the task as it is.
const maxBlocking = 10 * time.Minute

// posted is a message that has been carried out: what settles it, and how the
// conversation is known to be at least.
type posted struct {
	id          string
	requestID   string // of what settles it; empty if nothing does
	fingerprint string // of the message, empty for a cancellation
	least       contract.ConversationView
	accepted    *contract.ConversationView // the task that the message began, before any work
	decided     []string                   // approvals
	known       *settlement                // when it was there before
	hint        string                     // why nothing was done; there is nothing to wait for then
}

// Send implements tasks.Handler. A message whose ID was sent before is the same
// message. Who does not wait for a new task is told that it was accepted, also when
// the message is sent again: how it fares is for GetTask to say.
func (s a2aServer) Send(ctx context.Context, req *a2a.SendMessageRequest) (*a2a.Task, error) {
	p, err := s.post(ctx, req)
	if err != nil {
		return nil, s.failure(ctx, err)
	}
	config := req.Config
	if config == nil {
		config = &a2a.SendMessageConfig{}
	}
	o := s.shape(ctx, config.HistoryLength)
	o.Hint = p.hint
	if config.ReturnImmediately && p.accepted != nil {
		return s.task(ctx, *p.accepted, o)
	}
	view, err := s.reached(ctx, p, config.ReturnImmediately)
	if err != nil {
		return nil, p.told(ctx, s.withCause(ctx, err))
	}
	t, err := s.task(ctx, view, o)
	if err != nil && ctx.Err() == nil { // the message was carried out all the same
		s.Logger.Error("a task cannot be read", "conversation", p.id, "error", err)
		return s.unreadable(p.id, view, o, err), nil
	}
	return t, err
}

// told is why nothing more is known of a message that has decided something. An error of
// the protocol's own is a refusal, and says all itself.
func (p posted) told(ctx context.Context, err error) error {
	if len(p.decided) == 0 || ctx.Err() != nil || errors.As(err, new(*a2a.Error)) {
		return told(err)
	}
	return a2a.NewError(a2a.ErrServerError, fmt.Sprintf(
		"the decision was taken, and what it approved may have run; how the task is cannot be read now (%s); ask for it with GetTask", problemOf(err)))
}

// reached is the conversation when the message has been answered, or as it is by now.
func (s a2aServer) reached(ctx context.Context, p posted, now bool) (contract.ConversationView, error) {
	if !now && p.hint == "" {
		wait, cancel := context.WithTimeout(ctx, maxBlocking)
		defer cancel()
		view, err := s.answered(wait, p)
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, service.ErrClosing) {
			return view, err
		}
	}
	return s.conversation(ctx, a2a.TaskID(p.id), "")
}

// answered waits until the message has been answered, and on until the task rests: there
// may be another message behind it.
func (s a2aServer) answered(ctx context.Context, p posted) (contract.ConversationView, error) {
	if p.requestID != "" {
		settled, err := s.settlementOf(ctx, p)
		if err == nil {
			err = p.refused(settled.request)
		}
		cancelled := p.fingerprint == "" // which nothing that is queued matters to
		if err != nil || cancelled || p.rests(settled.view) {
			return settled.view, err
		}
	}
	r, err := s.followers.JoinLasting(p.id, true)
	if err != nil {
		return contract.ConversationView{}, err
	}
	defer s.followers.Leave(r)
	r.RequestRead()
	var view contract.ConversationView
	err = r.Await(ctx, s.base, func(now *record.State) bool {
		view = now.View
		return p.rests(view)
	})
	return view, err
}

// settlementOf waits for what settles a message, unless that is known.
func (s a2aServer) settlementOf(ctx context.Context, p posted) (settlement, error) {
	if p.known != nil {
		return *p.known, nil
	}
	if r := p.least.Request; r != nil && r.Settled && r.ID == p.requestID {
		return settlement{request: *r, view: p.least}, nil
	}
	return s.waits.wait(ctx, p.id, p.requestID)
}

// refused is why a message was not taken.
func (p posted) refused(r contract.Request) error {
	switch {
	case p.fingerprint != "" && r.Fingerprint != "" && p.fingerprint != r.Fingerprint:
		return a2a.NewError(a2a.ErrInvalidParams, "the messageId was used for a message of another content; a new message needs a new one")
	case r.Refused == "":
		return nil
	case r.Refused == contract.KindCompleted:
		return overTask()
	case r.Refused == contract.KindWaiting:
		return a2a.NewError(a2a.ErrUnsupportedOperation,
			"the message was not taken, because an approval waits: answer that first, and send the message again with a new messageId")
	}
	if r.Result != nil {
		return told(service.Errorf(r.Refused, "the message was not taken: %s", r.Result.Response.Short()))
	}
	return a2a.NewError(a2a.ErrUnsupportedOperation, "the task cannot take the message now: "+string(r.Refused))
}

func overTask() error {
	return a2a.NewError(a2a.ErrUnsupportedOperation, "the task is over and takes no more messages; send the message without a task ID to begin a new task")
}

// post carries a message out, which does not end when the client goes away.
func (s a2aServer) post(ctx context.Context, req *a2a.SendMessageRequest) (posted, error) {
	in, err := readA2AMessage(req.Message)
	if err != nil {
		return posted{}, err
	}
	if req.Message.TaskID == "" {
		return s.unaddressed(ctx, req, in)
	}
	return s.addressed(ctx, req, in)
}

// addressed carries out a message that names its task.
func (s a2aServer) addressed(ctx context.Context, req *a2a.SendMessageRequest, in a2aMessage) (posted, error) {
	requestID := contract.NameUUID(string(req.Message.TaskID), "a2a "+req.Message.ID)
	view, err := s.conversation(ctx, req.Message.TaskID, requestID)
	if err != nil {
		return posted{}, err
	}
	if c := req.Message.ContextID; c != "" && c != view.ContextID && c != view.ID {
		return posted{}, a2a.NewError(a2a.ErrInvalidParams, "the task is not of the context "+service.Printable(c))
	}
	p := posted{id: view.ID, requestID: requestID, fingerprint: in.sum()[:16], least: view}
	old := tasks.CallOf(ctx).Dialect == tasks.Old
	switch {
	case view.Request != nil:
		return p.again(*view.Request)
	case view.TaskState().Over() && (!old || view.Status == contract.StatusCompleted):
		return p, overTask()
	}
	// The webhook is set when nothing is left that could refuse the message: setting it
	// writes history.
	hook := pushOfMessage(ctx, req)
	if len(view.Pending) > 0 {
		return s.answer(ctx, req.Message, p, old, hook)
	}
	return s.goOn(ctx, in, p, hook)
}

// again is a message that was sent before. What is known of one that has decided
// something is not what.
func (p posted) again(r contract.Request) (posted, error) {
	if r.Fingerprint == "" && len(p.least.Pending) > 0 {
		p.hint = "A message of this messageId was sent before, and nothing more has been decided; a new answer needs a new messageId."
	}
	return p, p.refused(r)
}

// begin starts a conversation for a message of no task.
func (s a2aServer) begin(ctx context.Context, req *a2a.SendMessageRequest, in a2aMessage) (posted, error) {
	c := echoOf(ctx)
	m := req.Message
	print := in.sum()
	id := newTaskID(c, m, in)
	c.Set(keyConversation, id)
	send, cancel := sending(c)
	defer cancel()
	p := posted{id: id, requestID: contract.NameUUID(id, "a2a "+m.ID), fingerprint: print[:16]}
	first, blobs, err := s.a2aSignal(send, c, in, p)
	if err != nil {
		return p, err
	}
	start := contract.ConversationInput{
		ID: id, SessionID: sessionOf(c), Agent: s.Agent, First: &first, Chain: in.chain, ContextID: m.ContextID,
		Task: tasks.CallOf(ctx).Dialect != tasks.Old,
	}
	if start.ContextID == "" && start.Task {
		start.ContextID = contract.NameUUID(id, "context")
	}
	now := s.Now()
	there, err := s.Backend.Start(send, service.StartInput{
		Conversation: start, Fingerprint: print[:16], CreatedAt: now, Push: pushOfMessage(ctx, req), Keep: blobs.keeper(),
	})
	if there.Existed {
		now = there.CreatedAt
	}
	p.accepted = begun(start, now)
	if err == nil && start.Task {
		s.recent.add(start.ContextID, id)
	}
	return p, err
}

// newTaskID is the ID of the task that a message begins, however often it is sent.
func newTaskID(c echo.Context, m *a2a.Message, in a2aMessage) string {
	return contract.NameUUID("a2a task", strings.Join([]string{m.ID, m.ContextID, in.sum(), contract.Sum([]byte(bearer(c)))}, "\n"))
}

// begun is a conversation of which nothing is known but its first message.
func begun(in contract.ConversationInput, at time.Time) *contract.ConversationView {
	first := contract.Message{
		ID: in.First.RequestID, Role: contract.RoleUser, Content: in.First.Text, Media: in.First.Media, Draft: in.First.Name, CreatedAt: at,
	}
	return &contract.ConversationView{
		ID: in.ID, SessionID: in.SessionID, ContextID: in.ContextID, Task: in.Task, Status: contract.StatusActive,
		CreatedAt: at, UpdatedAt: at, Transcript: contract.Transcript{Tail: []contract.Message{first}},
	}
}

// goOn sends one more message to a conversation.
func (s a2aServer) goOn(ctx context.Context, in a2aMessage, p posted, hook *service.PushConfig) (posted, error) {
	c := echoOf(ctx)
	send, cancel := sending(c)
	defer cancel()
	signal, blobs, err := s.a2aSignal(send, c, in, p)
	if err != nil {
		return p, err
	}
	if hook != nil {
		view, err := s.Backend.Admit(send, p.id, foresight(contract.SignalMessage, signal))
		if err == nil && view.Request == nil {
			_, err = s.Backend.SetPush(send, p.id, *hook)
		}
		if err != nil {
			return p, err
		}
	}
	known, err := s.deliver(send, p.id, contract.SignalMessage, signal, blobs)
	switch {
	case service.IsKind(err, contract.KindCompleted):
		return p, overTask()
	case err == nil && known != nil:
		p.known = known
		return p, p.refused(known.request)
	}
	return p, err
}

// answer decides what waits. A message that is no answer changes nothing, and the task
// says what it waits for.
func (s a2aServer) answer(ctx context.Context, m *a2a.Message, p posted, old bool, hook *service.PushConfig) (posted, error) {
	src, err := s.source(ctx, p.least)
	if err != nil {
		return p, err
	}
	decisions, err := story.Decisions(m, src.Document.PendingApprovals, old)
	if hint, no := story.IsNoAnswer(err); no {
		p.hint = hint
		return p, nil
	}
	if err != nil {
		return p, err
	}
	chain, err := readChain(m.Metadata[contract.MetaChain])
	if err != nil {
		return p, err
	}
	by, _ := m.Metadata[contract.MetaBy].(string)
	if hook != nil {
		if _, err := s.Backend.SetPush(ctx, p.id, *hook); err != nil {
			return p, err
		}
	}
	for i, d := range decisions {
		d.By = cmp.Or(d.By, by)
		requestID := p.requestID // of the last one, by which the message is known
		if i < len(decisions)-1 {
			requestID = contract.NameUUID(p.requestID, d.UUID)
		}
		first, err := s.decideTask(ctx, d, chain, p.id, requestID)
		if err != nil {
			return p, err
		}
		if p.decided = append(p.decided, d.UUID); !first && requestID == p.requestID {
			p.requestID = "" // which the conversation will never hear of
		}
	}
	return p, nil
}

// decideTask gives a decision. Somebody else may have been first: with the same decision
// that is no trouble.
func (s a2aServer) decideTask(ctx context.Context, d story.Decision, chain []string, id, requestID string) (first bool, err error) {
	c := echoOf(ctx)
	about := reasonBody{Reason: d.Reason, By: d.By}
	if err := about.check(c); err != nil {
		return false, err
	}
	in := contract.DecideSignal{
		RequestID: requestID, Approved: d.Approved, By: about.By, Reason: about.Reason, Via: viaA2A, Chain: chain,
		Content: contract.JSON{Raw: d.Content},
	}
	if in.Credential, err = s.sealDecision(c, d.UUID); err != nil {
		return false, err
	}
	if _, err := s.sendDecision(c, d.UUID, in); err != nil {
		return false, err
	}
	record, err := s.decision(c, d.UUID)
	if err != nil {
		return false, err
	}
	if !record.Agrees(in) {
		by := ""
		if record.By != "" {
			by = " by " + service.Printable(record.By)
		}
		return false, service.Errorf(contract.KindDecided, "approval %s was already %s%s", d.UUID, record.Decision, by)
	}
	return record.RequestID == requestID, nil
}

// counted reports whether a conversation has heard of all that was decided, and is not
// older than it was before.
func (p posted) counted(view contract.ConversationView) bool {
	return !live.Older(view, p.least) && !slices.ContainsFunc(view.Pending, func(a contract.PendingApproval) bool {
		return slices.Contains(p.decided, a.UUID)
	})
}

// rests reports whether nobody is at work on the task, because it has ended or waits for
// the client.
func (p posted) rests(view contract.ConversationView) bool {
	return p.counted(view) && rests(view)
}

func rests(view contract.ConversationView) bool { return view.TaskState() != contract.TaskWorking }
