package service

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/title"
)

// Send sends a message to a conversation. If the conversation knows the request already, or
// would refuse it, nothing is written and Send returns the request's settlement. Otherwise it
// returns nil, and Await waits for the settlement.
func (s *Service) Send(ctx context.Context, c Caller, r Request, m Message) (*Settlement, error) {
	ctx, cancel := detached(ctx)
	defer cancel()
	signal, blobs, err := s.signalOf(ctx, c, r, m)
	if err != nil {
		return nil, err
	}
	return s.sendMessage(ctx, r, signal, blobs)
}

// SendWithPush is Send for a message with a webhook. The webhook is set only after the
// message was admitted, because setting it writes history.
func (s *Service) SendWithPush(ctx context.Context, c Caller, r Request, m Message, hook PushConfig) (*Settlement, error) {
	ctx, cancel := detached(ctx)
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

// sendMessage sends a message. A conversation that was idle a moment ago is not asked first,
// which saves a query in the usual turn: it cannot know a request with a new ID.
func (s *Service) sendMessage(ctx context.Context, r Request, m contract.MessageSignal, blobs *stagedValues) (*Settlement, error) {
	if err := tooLarge(m); err != nil {
		return nil, err
	}
	if err := s.See(ctx, r.ConversationID); err != nil { // before it is taken as idle
		return nil, err
	}
	if !r.Repeatable && s.idle.Take(r.ConversationID) {
		return nil, s.transmit(ctx, r.ConversationID, contract.SignalMessage, m, blobs)
	}
	return s.deliver(ctx, r.ConversationID, contract.SignalMessage, m, blobs)
}

// CancelTurn stops the running turn of a conversation. The result is that of Send.
func (s *Service) CancelTurn(ctx context.Context, c Caller, r Request, n Note) (*Settlement, error) {
	n, err := c.Note(n)
	if err != nil {
		return nil, err
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	return s.deliver(ctx, r.ConversationID, contract.SignalCancel, contract.CancelSignal{
		RequestID: r.ID, Reason: n.Reason, By: n.By, OnBehalfOf: n.OnBehalfOf, Identity: c.acting(contract.ScopeConverse),
	}, nil)
}

// CloseConversation ends a conversation. The result is that of Send.
func (s *Service) CloseConversation(ctx context.Context, c Caller, r Request, n Note) (*Settlement, error) {
	n, err := c.Note(n)
	if err != nil {
		return nil, err
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	return s.deliver(ctx, r.ConversationID, contract.SignalClose, contract.CloseSignal{
		RequestID: r.ID, Reason: n.Reason, By: n.By, OnBehalfOf: n.OnBehalfOf, Identity: c.acting(contract.ScopeConverse),
	}, nil)
}

// Rename gives a conversation a title. The result is that of Send.
func (s *Service) Rename(ctx context.Context, c Caller, r Request, text, by string) (*Settlement, error) {
	text = strings.TrimSpace(text)
	if err := title.Check(text); err != nil {
		return nil, Errorf(contract.KindInvalid, "title: %w", err)
	}
	n, err := c.Note(Note{By: by})
	if err != nil {
		return nil, err
	}
	ctx, cancel := detached(ctx)
	defer cancel()
	return s.deliver(ctx, r.ConversationID, title.SignalRename, title.Rename{
		RequestID: r.ID, Fingerprint: r.Fingerprint, Title: text, By: n.By, OnBehalfOf: n.OnBehalfOf, Identity: c.acting(contract.ScopeConverse, contract.ScopeOperate),
	}, nil)
}

// Delete removes a conversation and all that belongs to it, also its decisions, except what its
// tombstone has. It fails with KindWaiting while an approval waits, unless force is set. When ctx
// ends, the deletion goes on.
func (s *Service) Delete(ctx context.Context, c Caller, id string, force bool) (*deletion.Tombstone, error) {
	return s.delete(ctx, c, deletion.Input{ConversationID: id, Force: force})
}

// DeleteUnchanged is Delete of a conversation that has not changed since a time, the UpdatedAt of a view.
// It fails with KindBusy if it has, or if a turn runs, and with KindWaiting while an approval waits.
func (s *Service) DeleteUnchanged(ctx context.Context, c Caller, id string, since time.Time) (*deletion.Tombstone, error) {
	return s.delete(ctx, c, deletion.Input{ConversationID: id, UnchangedSince: since})
}

func (s *Service) delete(ctx context.Context, c Caller, in deletion.Input) (*deletion.Tombstone, error) {
	in.Cause, in.At, in.By, in.Identity = deletion.CauseRequest, s.now().UTC(), c.Subject, c.acting(contract.ScopeConverse, contract.ScopeOperate)
	result, err := s.backend.Delete(ctx, in)
	switch {
	case err != nil:
		return nil, err
	case result.Refused == contract.KindWaiting:
		return nil, Errorf(contract.KindWaiting, "an approval of the conversation waits: decide it first, or delete with force, which withdraws it")
	case result.Refused == contract.KindNotFound:
		return nil, NoConversation(in.ConversationID)
	case result.Refused != "": // somebody has written to it
		return nil, Errorf(result.Refused, "the conversation has just changed: delete it again if you still want to")
	}
	return result.Tombstone, nil
}

// deliver sends a signal, unless the conversation knows the request or would refuse it: then it
// writes nothing and returns the settlement. All messages, cancellations and closings that are
// not sent to an idle conversation go through here.
//
// The conversation itself is asked, because the gateway's memory may be out of date and search
// attributes lag; a query sees every signal that was acknowledged before. Requests with the same
// signal to the same conversation are handled one at a time, so that no two of them take the
// last place in its queue. An approval may still open between the query and the signal: then the
// workflow refuses.
func (s *Service) deliver(ctx context.Context, id, signal string, payload any, blobs *stagedValues) (*Settlement, error) {
	if err := s.See(ctx, id); err != nil { // before anybody waits for the lock
		return nil, err
	}
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
	case !view.Request.Settled: // it is being carried out
		return nil, nil
	}
	return &Settlement{Outcome: *view.Request, View: view}, nil
}

// transmit stores the values that a signal refers to, and sends the signal.
func (s *Service) transmit(ctx context.Context, id, signal string, payload any, blobs *stagedValues) error {
	if err := blobs.keep(ctx); err != nil {
		return err
	}
	return s.backend.Signal(ctx, id, signal, payload)
}

// admissionOf returns the query for the admission of a signal.
func admissionOf(signal string, payload any) contract.ConversationQuery {
	q := contract.ConversationQuery{Signal: signal}
	switch in := payload.(type) {
	case contract.MessageSignal:
		q.RequestID, q.Text, q.NoAnswer, q.Model, q.Size = in.RequestID, in.Text, in.NoAnswer, in.Model, sizeInHistory(in)
	case contract.CancelSignal:
		q.RequestID = in.RequestID
	case contract.CloseSignal:
		q.RequestID = in.RequestID
	case title.Rename:
		q.RequestID, q.Text = in.RequestID, contract.Inline(in.Title)
	}
	return q
}

// tooLarge returns an error if a message is too large for history.
func tooLarge(m contract.MessageSignal) error {
	if sizeInHistory(m) > contract.MaxMessage {
		return Errorf(contract.KindTooLarge, "the message takes too much room: at most %d bytes besides its text and the content of its files", contract.MaxMessage)
	}
	return nil
}

// sizeInHistory returns the size of a message in history. A long token is stored elsewhere
// and counts as its address.
func sizeInHistory(m contract.MessageSignal) int {
	m.Credential = m.Credential[:min(len(m.Credential), contract.InlineLimit)]
	data, err := json.Marshal(m)
	if err != nil { // wire types can be encoded
		return contract.MaxMessage + 1
	}
	return len(data)
}
