package gateway

import (
	"context"
	"encoding/json"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// deliver sends a signal, unless the conversation knows the request or would refuse it:
// then it returns what the request settles to, and nothing has been written. Every
// message, cancellation and closing goes through here.
//
// The conversation is asked, because what a gateway remembers may be out of date, and a
// search attribute lags; a query sees every signal that was acknowledged before.
// Requests that send the same signal to a conversation are handled one at a time, so
// that no two of them see room for the last place in its queue. Between query and
// signal an approval may open all the same: then the workflow refuses.
func (g *Gateway) deliver(ctx context.Context, id, signal string, payload any, blobs *staged) (*settlement, error) {
	if err := outsized(payload); err != nil {
		return nil, err
	}
	unlock, err := g.sendLocks.lock(ctx, id+" "+signal)
	if err != nil {
		return nil, err
	}
	defer unlock()
	view, err := g.Backend.Admit(ctx, id, foresight(signal, payload))
	switch {
	case err != nil:
		return nil, err
	case view.Request == nil:
		return nil, g.transmit(ctx, id, signal, payload, blobs)
	case !view.Request.Settled: // it is under way
		return nil, nil
	}
	return &settlement{request: *view.Request, view: view}, nil
}

// deliverNew is deliver for a request that no earlier one can have been: a message to a
// conversation that was idle a moment ago is sent without asking, which saves a query in
// the usual turn.
func (g *Gateway) deliverNew(ctx context.Context, t ticket, signal string, payload any, blobs *staged) (*settlement, error) {
	if err := outsized(payload); err != nil {
		return nil, err
	}
	if !t.keyed && signal == contract.SignalMessage && g.idle.take(t.conversationID) {
		return nil, g.transmit(ctx, t.conversationID, signal, payload, blobs)
	}
	return g.deliver(ctx, t.conversationID, signal, payload, blobs)
}

// transmit sends a signal behind the values that it refers to.
func (g *Gateway) transmit(ctx context.Context, id, signal string, payload any, blobs *staged) error {
	if err := blobs.keep(ctx); err != nil {
		return err
	}
	return g.Backend.Signal(ctx, id, signal, payload)
}

// foresight asks what a signal would come to.
func foresight(signal string, payload any) contract.ConversationQuery {
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

// outsized is why a payload is too large for history, or nil.
func outsized(payload any) error {
	if m, ok := payload.(contract.MessageSignal); ok && sizeInHistory(m) > contract.MaxMessage {
		return service.Errorf(contract.KindTooLarge, "the message takes too much room: at most %d bytes besides its text and the content of its files", contract.MaxMessage)
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

// refused is the error of a settlement that is a refusal, and nil for any other.
func (s *settlement) refused() error {
	if s == nil || s.request.Refused == "" {
		return nil
	}
	var res *result
	if s.request.Result != nil {
		res = &result{Response: s.request.Result.Response.Short()}
	}
	return &service.Error{Kind: s.request.Refused, Text: refusalText(s.request.Refused, res)}
}
