package service

import (
	"context"
	"encoding/json"

	"agent-stop-and-go/workflows/contract"
)

// Send sends a message to a conversation. When the conversation knows the request already,
// or would refuse it, nothing is written and Send returns what the request has settled to.
// Otherwise it returns nil, and Await waits for that.
func (s *Service) Send(ctx context.Context, c Caller, r Request, m Message) (*Settlement, error) {
	ctx, cancel := sending(ctx)
	defer cancel()
	signal, blobs, err := s.signalOf(ctx, c, r, m)
	if err != nil {
		return nil, err
	}
	return s.sendMessage(ctx, r, signal, blobs)
}

// SendWithPush is Send for a message that brings a webhook, which is set when nothing is
// left that could refuse the message: setting it writes history.
func (s *Service) SendWithPush(ctx context.Context, c Caller, r Request, m Message, hook PushConfig) (*Settlement, error) {
	ctx, cancel := sending(ctx)
	defer cancel()
	signal, blobs, err := s.signalOf(ctx, c, r, m)
	if err != nil {
		return nil, err
	}
	view, err := s.backend.Admit(ctx, r.ConversationID, admissionOf(contract.SignalMessage, signal))
	if err == nil && view.Request == nil {
		_, err = s.backend.SetPush(ctx, r.ConversationID, hook)
	}
	if err != nil {
		return nil, err
	}
	return s.sendMessage(ctx, r, signal, blobs)
}

// sendMessage sends a message to a conversation that was idle a moment ago without asking
// it first, which saves a query in the usual turn. No earlier request can have its ID then.
func (s *Service) sendMessage(ctx context.Context, r Request, m contract.MessageSignal, blobs *staged) (*Settlement, error) {
	if err := tooLarge(m); err != nil {
		return nil, err
	}
	if !r.Repeatable && s.idle.take(r.ConversationID) {
		return nil, s.transmit(ctx, r.ConversationID, contract.SignalMessage, m, blobs)
	}
	return s.deliver(ctx, r.ConversationID, contract.SignalMessage, m, blobs)
}

// CancelTurn stops the running turn of a conversation. Its result is that of Send.
func (s *Service) CancelTurn(ctx context.Context, c Caller, r Request, n Note) (*Settlement, error) {
	n, err := c.Note(n)
	if err != nil {
		return nil, err
	}
	ctx, cancel := sending(ctx)
	defer cancel()
	return s.deliver(ctx, r.ConversationID, contract.SignalCancel, contract.CancelSignal{RequestID: r.ID, Reason: n.Reason, By: n.By}, nil)
}

// CloseConversation ends a conversation. Its result is that of Send.
func (s *Service) CloseConversation(ctx context.Context, c Caller, r Request, n Note) (*Settlement, error) {
	n, err := c.Note(n)
	if err != nil {
		return nil, err
	}
	ctx, cancel := sending(ctx)
	defer cancel()
	return s.deliver(ctx, r.ConversationID, contract.SignalClose, contract.CloseSignal{RequestID: r.ID, Reason: n.Reason, By: n.By}, nil)
}

// deliver sends a signal, unless the conversation knows the request or would refuse it:
// then it returns what the request settles to, and nothing has been written. Every
// message, cancellation and closing goes through here.
//
// The conversation is asked, because what a gateway remembers may be out of date, and a
// search attribute lags; a query sees every signal that was acknowledged before.
// Requests that send the same signal to a conversation are handled one at a time, so
// that no two of them see room for the last place in its queue. Between query and
// signal an approval may open all the same: then the workflow refuses.
func (s *Service) deliver(ctx context.Context, id, signal string, payload any, blobs *staged) (*Settlement, error) {
	unlock, err := s.locks.lock(ctx, id+" "+signal)
	if err != nil {
		return nil, err
	}
	defer unlock()
	view, err := s.backend.Admit(ctx, id, admissionOf(signal, payload))
	switch {
	case err != nil:
		return nil, err
	case view.Request == nil:
		return nil, s.transmit(ctx, id, signal, payload, blobs)
	case !view.Request.Settled: // it is under way
		return nil, nil
	}
	return &Settlement{Outcome: *view.Request, View: view}, nil
}

// transmit sends a signal behind the values that it refers to.
func (s *Service) transmit(ctx context.Context, id, signal string, payload any, blobs *staged) error {
	if err := blobs.keep(ctx); err != nil {
		return err
	}
	return s.backend.Signal(ctx, id, signal, payload)
}

// admissionOf asks what a signal would come to.
func admissionOf(signal string, payload any) contract.ConversationQuery {
	q := contract.ConversationQuery{Signal: signal}
	switch in := payload.(type) {
	case contract.MessageSignal:
		q.RequestID, q.Text, q.NoAnswer, q.Size = in.RequestID, in.Text, in.NoAnswer, sizeInHistory(in)
	case contract.CancelSignal:
		q.RequestID = in.RequestID
	case contract.CloseSignal:
		q.RequestID = in.RequestID
	}
	return q
}

// tooLarge is the error of a message that is too large for history, or nil.
func tooLarge(m contract.MessageSignal) error {
	if sizeInHistory(m) > contract.MaxMessage {
		return Errorf(contract.KindTooLarge, "the message takes too much room: at most %d bytes besides its text and the content of its files", contract.MaxMessage)
	}
	return nil
}

// sizeInHistory is how much of history a message takes. A long token goes by its address.
func sizeInHistory(m contract.MessageSignal) int {
	m.Credential = m.Credential[:min(len(m.Credential), contract.InlineLimit)]
	data, err := json.Marshal(m)
	if err != nil { // wire types can be encoded
		return contract.MaxMessage + 1
	}
	return len(data)
}
