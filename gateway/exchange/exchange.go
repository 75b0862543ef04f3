package exchange

import (
	"context"
	"errors"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/turn"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Exchanges begin exchanges. It is safe for concurrent use.
type Exchanges struct {
	Service   *service.Service
	Followers *live.Followers
}

// Exchange is a request that was sent, and whose reply is to be told. It must be closed.
type Exchange struct {
	of     *Exchanges
	reader *live.Reader // nil for a reply that is only waited for
	turn   turn.Turn
	// known are the IDs of messages of the turn that belong to earlier replies.
	known map[string]bool
	// settlement is set if the request had settled already.
	settlement *service.Settlement
}

// ConversationID returns the conversation.
func (x *Exchange) ConversationID() string { return x.turn.ConversationID }

// Request returns the request.
func (x *Exchange) Request() service.Request { return x.turn.Request }

// Close ends the exchange for its reader. The turn goes on.
func (x *Exchange) Close() {
	if x.reader != nil {
		x.of.Followers.Leave(x.reader)
		x.reader = nil
	}
}

// Start returns the exchange of the first message of a conversation, which was started. live streams
// the reply.
func (e *Exchanges) Start(ctx context.Context, q service.Request, live bool) (*Exchange, error) {
	x := &Exchange{of: e, turn: turn.Turn{Request: q, First: true}}
	return x, x.join(ctx, live)
}

// Join returns the exchange of a message that was sent before.
func (e *Exchanges) Join(ctx context.Context, q service.Request, message string, live bool) (*Exchange, error) {
	x := &Exchange{of: e, turn: turn.Turn{Request: q, Message: message}}
	var err error
	if x.settlement, err = e.Service.Settled(ctx, q); err != nil {
		return nil, err
	}
	return x, x.join(ctx, live && x.settlement == nil)
}

// Send sends a message to a conversation, of which before is a state.
func (e *Exchanges) Send(ctx context.Context, caller service.Caller, q service.Request, m service.Message, before *record.State, live bool) (*Exchange, error) {
	x := &Exchange{of: e, turn: turn.Turn{Request: q, Latest: before.View}, known: map[string]bool{}}
	if err := x.join(ctx, live); err != nil {
		return nil, err
	}
	for _, p := range before.Document.PendingApprovals {
		if p.Question() { // the message is the answer
			x.answers(before, p.UUID)
		}
	}
	if len(x.turn.Approvals) == 0 {
		x.turn.Message = m.ClientID
	}
	known, err := e.Service.Send(ctx, caller, q, m)
	if err == nil && known != nil {
		if err = known.Refusal(); err == nil {
			x.settlement = known
		}
	}
	if err != nil {
		x.Close()
		return nil, err
	}
	x.expect()
	return x, nil
}

// answers says that the turn goes on after approvals of a state.
func (x *Exchange) answers(before *record.State, uuids ...string) {
	x.turn.Approvals = append(x.turn.Approvals, uuids...)
	for _, m := range before.Messages {
		x.known[m.ID] = true
		if turn.ByUser(m) {
			x.turn.Anchor = m.ID
		}
	}
}

// Decide sends decisions about approvals of a conversation, of which before is a state. It fails if
// one of them was decided otherwise before.
func (e *Exchanges) Decide(ctx context.Context, caller service.Caller, before *record.State, decisions []service.Decision, live bool) (*Exchange, error) {
	x := &Exchange{of: e, known: map[string]bool{}, turn: turn.Turn{Latest: before.View, Request: service.Request{ConversationID: before.View.ID, MayBeCompleted: true, Repeatable: true}}}
	if err := x.join(ctx, live); err != nil {
		return nil, err
	}
	for _, d := range decisions {
		if err := e.decide(ctx, caller, d); err != nil {
			x.Close()
			return nil, err
		}
		x.answers(before, d.UUID)
		x.turn.ID = d.Signal.RequestID
	}
	x.expect()
	return x, nil
}

// JoinDecision returns the exchange of a decision that was sent before, of which now is a state.
func (e *Exchanges) JoinDecision(ctx context.Context, now *record.State, decided contract.ApprovalResult, live bool) (*Exchange, error) {
	x := &Exchange{of: e, known: map[string]bool{}, turn: turn.Turn{Latest: now.View, Request: service.Request{ConversationID: now.View.ID, ID: decided.RequestID, MayBeCompleted: true, Repeatable: true}}}
	before := *now
	for i, m := range now.Messages {
		if m.Approval != nil && m.Approval.UUID == decided.UUID {
			before.Messages = now.Messages[:i]
		}
	}
	x.answers(&before, decided.UUID)
	return x, x.join(ctx, live)
}

func (e *Exchanges) decide(ctx context.Context, caller service.Caller, d service.Decision) error {
	receipt, err := e.Service.Decide(ctx, caller, d)
	if err != nil {
		return err
	}
	result, err := e.Service.DecisionRecord(ctx, receipt)
	if err != nil {
		return err
	}
	if result.RequestID != d.Signal.RequestID && !result.Agrees(d.Signal) {
		return service.Errorf(contract.KindDecided, "%s", service.AlreadyDecided(result))
	}
	return nil
}

// Settle waits until the approvals of the exchange are closed, so that the conversation takes a
// message.
func (x *Exchange) Settle(ctx context.Context) error {
	if x.reader == nil {
		return errors.New("only an exchange with a reader sees that approvals are closed")
	}
	x.reader.RequestRead()
	return x.reader.Await(ctx, x.of.Service.Closing(), func(s *record.State) bool { return !x.turn.Stale(*s) && x.turn.Decided(*s) })
}

// join gives the exchange a reader of the conversation, if the reply is streamed.
func (x *Exchange) join(ctx context.Context, live bool) error {
	if !live {
		return nil
	}
	r, err := x.of.Followers.Join(ctx, x.turn.ConversationID, true)
	if err != nil {
		return err
	}
	if err := r.Ready(ctx, x.of.Service.Closing()); err != nil {
		x.of.Followers.Leave(r)
		return err
	}
	x.reader = r
	return nil
}

func (x *Exchange) expect() {
	if x.reader != nil {
		x.reader.ExpectChange()
	}
}
