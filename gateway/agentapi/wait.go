package agentapi

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// How long a client waits, by default and at most.
const (
	defaultWait = 60 * time.Second
	maxWait     = 10 * time.Minute
)

func timeoutOf(seconds *float64) (time.Duration, error) {
	if seconds == nil {
		return defaultWait, nil
	}
	if *seconds <= 0 || *seconds > maxWait.Seconds() {
		return 0, invalid("'timeout' must be a number of seconds above 0, at most %g", maxWait.Seconds())
	}
	return time.Duration(*seconds * float64(time.Second)), nil
}

// collector is the text of a turn.
type collector struct {
	text    strings.Builder
	waiting []string // what waits for a decision
	status  string   // "" until the turn has ended
}

// Token implements Listener.
func (r *collector) Token(text string) error {
	r.text.WriteString(text)
	return nil
}

// Gate implements Listener.
func (r *collector) Gate(p contract.PendingApproval, link string) error {
	r.waiting = append(r.waiting, "\n"+passcode.Card(p, link, "")+"\n")
	return nil
}

// Done implements Listener.
func (r *collector) Done() error {
	if r.status == "" {
		r.status = statusComplete
	}
	return nil
}

// Failed implements Listener.
func (r *collector) Failed(text string) error {
	if r.status == "" {
		r.text.WriteString(text)
		r.status = statusError
	}
	return nil
}

// wait waits for the end of the turn of a message. A gate stays open however long the client waits; when
// its time is over, the text says what is to be decided.
func (e *Endpoint) wait(c echo.Context, client string, sent sent, timeout time.Duration) (apiReply, error) {
	call := request.From(c.Request().Context())
	ctx, cancel := context.WithTimeout(call.Client, timeout)
	defer cancel()
	got := &collector{}
	err := e.collect(ctx, sent, got, call.Caller)
	if call.Client.Err() != nil {
		return apiReply{}, call.Client.Err()
	}
	if err := got.broken(err); err != nil {
		return apiReply{}, err
	}
	text := got.text.String()
	if sent.notice != "" {
		text = sent.notice + "\n" + text
	}
	return apiReply{ClientID: client, Status: got.status, Text: &text}, nil
}

// broken sets the status after collecting has ended with an error, and returns those that have none. The
// message was accepted: a client that gets an error instead sends it again.
func (r *collector) broken(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, service.ErrClosing), errors.Is(err, live.ErrSlow), service.IsKind(err, service.KindUnavailable):
		r.status = statusTimeout
		r.text.WriteString(strings.Join(r.waiting, ""))
	case isGone(err) && r.status == "":
		r.status = statusCancelled
	default:
		return err
	}
	return nil
}

// collect follows the turn of a message to its end.
func (e *Endpoint) collect(ctx context.Context, sent sent, got *collector, caller service.Caller) error {
	reader, err := e.Followers.Join(ctx, sent.session.id, true)
	if err != nil {
		return err
	}
	defer e.Followers.Leave(reader)
	own := func(m record.Entry) bool { return m.ID == sent.request.ID || m.ClientID() == sent.request.ID }
	t := NewTeller(got, contract.ConversationView{}, own, func(uuid string) string { return linkTo(caller, uuid) })
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-e.Service.Closing().Done():
			return service.ErrClosing
		case <-reader.Wake():
		}
		items, _, end := reader.Take()
		for _, i := range items {
			if err := t.Item(i); err != nil {
				return err
			}
			if got.status != "" {
				if i.State != nil && cancelled(i.State, own) {
					got.status = statusCancelled
				}
				return nil
			}
		}
		if end != nil {
			return end
		}
	}
}

// cancelled reports whether the turn of a message was cancelled.
func cancelled(s *record.State, own func(record.Entry) bool) bool {
	turn, is := 0, false
	for _, e := range s.Entries() {
		switch {
		case e.Kind == record.KindMessage && own(e):
			turn = e.Turn
		case e.Turn == turn && e.Kind == record.KindText:
			is = e.Outcome == contract.OutcomeCancelled
		}
	}
	return is
}
