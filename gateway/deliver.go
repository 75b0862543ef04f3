package gateway

import (
	"context"
	"sync"

	"agent-stop-and-go/workflows/contract"
)

// deliver sends a signal, unless the conversation knows the request or would refuse it:
// then it returns what the request settles to, and nothing has been written. Every
// message, cancellation and closing goes through here.
//
// The conversation is asked each time. What a gateway remembers may be out of date, and
// a search attribute lags; a query sees every signal that was acknowledged before.
// Those who send one sort of signal to a conversation take
// turns, so that no two of them see room for the last place in its queue. Between
// query and signal an approval may open all the same: then the workflow refuses.
func (g *Gateway) deliver(ctx context.Context, id, signal string, payload any) (*settlement, error) {
	leave, err := g.doors.enter(ctx, id+" "+signal)
	if err != nil {
		return nil, err
	}
	defer leave()
	view, err := g.Backend.Admit(ctx, id, foresight(signal, payload))
	switch {
	case err != nil:
		return nil, err
	case view.Request == nil:
		return nil, g.Backend.Signal(ctx, id, signal, payload)
	case !view.Request.Settled: // it is under way
		return nil, nil
	}
	return &settlement{request: *view.Request, view: view}, nil
}

// foresight asks what a signal would come to.
func foresight(signal string, payload any) contract.ConversationQuery {
	q := contract.ConversationQuery{Signal: signal}
	switch in := payload.(type) {
	case contract.MessageSignal:
		q.RequestID, q.Text, q.NoAnswer = in.RequestID, in.Text, in.NoAnswer
	case contract.CancelSignal:
		q.RequestID = in.RequestID
	case contract.CloseSignal:
		q.RequestID = in.RequestID
	}
	return q
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
	return &Error{Kind: s.request.Refused, Text: refusalText(s.request.Refused, res)}
}

// doors let one request at a time through to each conversation. The zero value is ready.
type doors struct {
	mu   sync.Mutex
	byID map[string]*door
}

type door struct {
	free    chan struct{} // holds a token while nobody is inside
	present int           // inside or waiting
}

// enter waits for its turn. It fails with KindBusy when too many wait.
func (d *doors) enter(ctx context.Context, id string) (leave func(), err error) {
	e, err := d.queue(id)
	if err != nil {
		return nil, err
	}
	select {
	case <-e.free:
		return func() { e.free <- struct{}{}; d.leave(id, e) }, nil
	case <-ctx.Done():
		d.leave(id, e)
		return nil, ctx.Err()
	}
}

func (d *doors) queue(id string) (*door, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byID == nil {
		d.byID = map[string]*door{}
	}
	e := d.byID[id]
	if e == nil {
		e = &door{free: make(chan struct{}, 1)}
		e.free <- struct{}{}
		d.byID[id] = e
	}
	if e.present >= contract.MaxOpenRequests {
		return nil, Errorf(contract.KindBusy, "too many requests at once: %d for one conversation are being looked at", contract.MaxOpenRequests)
	}
	e.present++
	return e, nil
}

func (d *doors) leave(id string, e *door) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.present--; e.present == 0 {
		delete(d.byID, id)
	}
}
