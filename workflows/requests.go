package workflows

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/signal"
	"agent-stop-and-go/workflows/wording"
)

// receive handles all signals that have arrived. Messages come before cancellations that
// arrived with them, so that a cancellation finds the turn that it is meant for.
func (c *conversation) receive(ctx workflow.Context) {
	c.adopt(ctx)
	for raw, ok := signal.Receive(c.messages); ok; raw, ok = signal.Receive(c.messages) {
		m, err := signal.Message(raw)
		if err != nil {
			c.signalProblem = err.Error()
			c.show(ctx)
			continue
		}
		c.signalProblem = ""
		if c.takeSender(ctx, contract.SignalMessage, raw, m.RequestID, &m.Identity, &m.Proof) {
			c.accept(ctx, m)
		}
	}
	c.queueCarried = false
	if c.turn == nil && c.closing == nil && len(c.queue) > 0 {
		if c.queueCarried = c.carriesQueue(ctx); !c.queueCarried {
			c.startTurn(ctx)
		}
	}
	for raw, ok := signal.Receive(c.cancels); ok; raw, ok = signal.Receive(c.cancels) {
		s := signal.Optional[contract.CancelSignal](raw)
		if c.takeSender(ctx, contract.SignalCancel, raw, s.RequestID, &s.Identity, &s.Proof) {
			c.cancel(ctx, s)
		}
	}
	c.receiveReports(ctx)
	c.receiveQuestions(ctx)
	c.receiveFollows(ctx)
	c.receiveRenames(ctx)
	for raw, ok := signal.Receive(c.closes); ok; raw, ok = signal.Receive(c.closes) {
		s := signal.Optional[contract.CloseSignal](raw)
		idle := c.turn == nil && len(c.queue) == 0
		if decide.Closes(s, idle, c.state.UpdatedAt) && c.takeSender(ctx, contract.SignalClose, raw, s.RequestID, &s.Identity, &s.Proof) {
			c.close(s, nil)
		}
	}
}

// takeSender sets the sender of a signal, and reports whether the signal counts. One with an
// identity that is not proven is refused.
func (c *conversation) takeSender(ctx workflow.Context, name string, raw json.RawMessage, request string, identity *contract.Identity, proof *string) (ok bool) {
	if *identity, ok = c.proofs.Sender(ctx, name, raw, *identity, *proof, c.in.Owner); !ok {
		if id := c.addRequest(request, ""); id != "" {
			c.refuse(ctx, id, *refusal(contract.KindForbidden, wording.TextUnproven))
		}
	}
	*proof = "" // of no use any more
	return ok
}

// receiveReports passes reports to the turn that they belong to. Late reports of an earlier
// turn are dropped.
func (c *conversation) receiveReports(ctx workflow.Context) {
	for raw, ok := signal.Receive(c.reports); ok; raw, ok = signal.Receive(c.reports) {
		var batch contract.NodeReports
		if err := json.Unmarshal(raw, &batch); err != nil {
			workflow.GetLogger(ctx).Warn("a report was not understood", "error", err)
			continue
		}
		batch.Reports = slices.DeleteFunc(batch.Reports, func(r contract.NodeReport) bool { return r.Turn != c.state.Turn })
		if c.turn != nil && c.turn.pipeline != nil && len(batch.Reports) > 0 {
			c.turn.pipeline.inbox = append(c.turn.pipeline.inbox, batch)
		}
	}
}

// accept queues a message, or refuses it, or uses it as the answer to an open question. A
// repeated request changes nothing.
func (c *conversation) accept(ctx workflow.Context, m contract.MessageSignal) {
	m.RequestID = c.addRequest(m.RequestID, m.Fingerprint)
	if m.RequestID == "" {
		return
	}
	no := cmp.Or(c.messageRefusal(m), c.boundRefusal(ctx, m))
	question, asked := c.openQuestion()
	p, again := c.openLogin(m.Text)
	switch {
	case no != nil && no.Refused == "":
		c.ledger.Settle(m.RequestID, *no.Result)
	case no != nil:
		c.refuse(ctx, m.RequestID, *no)
	case again:
		c.join(ctx, p, m)
	case asked && !m.NoAnswer:
		c.answer(ctx, question, m)
	default:
		c.queue = append(c.queue, m)
	}
}

// addRequest records a request. It returns its ID, generated for a signal without one, or "" if
// the request was recorded before.
func (c *conversation) addRequest(id, fingerprint string) string {
	if id == "" {
		c.state.Seq++
		id = contract.NameUUID(c.in.ID, fmt.Sprintf("request-%d", c.state.Seq))
	}
	if !c.ledger.Add(id, fingerprint) {
		return ""
	}
	return id
}

// refuse settles a request that is not carried out. The gateway refuses before it signals, so
// this is for state changes in between, and for signals that did not come through the gateway.
func (c *conversation) refuse(ctx workflow.Context, id string, no contract.Request) {
	c.state.Refused++
	workflow.GetLogger(ctx).Warn("a signal was refused", "request", id, "why", no.Refused, "refused", c.state.Refused)
	workflow.GetMetricsHandler(ctx).Counter(metricRefused).Inc(1)
	c.ledger.Refuse(id, no.Refused, *no.Result)
}

// cancel stops the running turn. Queued messages are still answered, unless the conversation is
// a task: a task is cancelled as a whole.
func (c *conversation) cancel(ctx workflow.Context, s contract.CancelSignal) {
	id := c.addRequest(s.RequestID, "")
	no := c.cancelRefusal()
	switch {
	case id == "":
	case no != nil:
		c.ledger.Settle(id, *no.Result)
	case !c.running():
		c.cancelIdle(ctx, id, s)
	default:
		c.turn.requests = append(c.turn.requests, id)
		c.turn.stop(s.Reason, s.Identity)
	}
}

// close ends the conversation as soon as the running turn has stopped.
func (c *conversation) close(s contract.CloseSignal, err error) {
	id := c.addRequest(s.RequestID, "")
	if id == "" {
		return
	}
	if c.closing == nil {
		c.closing = &closure{reason: s.Reason, by: s.Identity, err: err}
	}
	c.closing.requests = append(c.closing.requests, id)
	if c.turn != nil {
		c.turn.stop(s.Reason, s.Identity)
	}
}

const maxAwaited = 256

// maxAwaits is how many updates are handled while nothing is settled. A run cannot continue as
// new during a turn, and an approval may wait for months.
const maxAwaits = 16

// validateAwait rejects updates before they are written to history.
func (c *conversation) validateAwait(in contract.AwaitInput) error {
	if c.turn != nil && c.awaits >= maxAwaits && len(c.ledger.Settled(in.RequestIDs)) == 0 {
		return temporal.NewApplicationError(wording.TextTooManyAwaits, contract.TypeAwaitRefused)
	}
	if len(in.RequestIDs) == 0 || len(in.RequestIDs) > maxAwaited {
		return errors.New(wording.AwaitIDs(maxAwaited))
	}
	if slices.Contains(in.RequestIDs, "") {
		return errors.New(wording.TextAwaitEmptyID)
	}
	return nil
}

// awaitSettled waits until one of the requests is settled. It may return without any, if the
// run ends or too many callers wait; the caller then sends another update.
func (c *conversation) awaitSettled(ctx workflow.Context, in contract.AwaitInput) (contract.AwaitResult, error) {
	ctx = run.Detached(ctx)
	c.awaits++
	w := c.waiters.Add()
	defer c.waiters.Remove(w)
	err := workflow.Await(ctx, func() bool {
		return w.Released || c.waiters.ReleaseAll || len(c.ledger.Settled(in.RequestIDs)) > 0
	})
	settled := c.ledger.Settled(in.RequestIDs)
	if len(settled) == 0 && c.waiters.ReleaseAll && c.status == contract.StatusCompleted {
		for _, id := range in.RequestIDs {
			settled = append(settled, contract.Request{ID: id, Settled: true, Refused: contract.KindCompleted,
				Result: &contract.Result{Response: contract.Inline(wording.TextCompleted)}})
		}
	}
	return contract.AwaitResult{Settled: settled, Conversation: c.view()}, err
}

func (c *conversation) query(q contract.ConversationQuery) (contract.ConversationView, error) {
	v := c.view()
	if q.RequestID != "" {
		v.Request = c.ledger.Find(q.RequestID)
	}
	if v.Request == nil && q.Signal != "" {
		v.Request = c.predictRefusal(q)
	}
	return v, nil
}
