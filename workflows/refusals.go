package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// metricRefused counts the signals that workflows themselves refuse.
const metricRefused = "conversation_signals_refused"

// changeBounds marks histories in which messages over a bound are refused.
const changeBounds = "bounds-of-messages"

// foresee is what a signal would settle to that the conversation would not carry out,
// and nil for one that it would. The gateway asks before it signals, so what is
// refused leaves no trace in history. It is called by queries only: it may say no to
// more than the workflow does.
func (c *conversation) foresee(q contract.ConversationQuery) *contract.Request {
	no := c.foreseen(q)
	if no != nil {
		no.ID, no.Foreseen = q.RequestID, true
	}
	return no
}

func (c *conversation) foreseen(q contract.ConversationQuery) *contract.Request {
	full := c.ledger.Open()-len(c.queue) >= contract.MaxOpenRequests
	switch q.Signal {
	case contract.SignalMessage:
		return c.foreseenMessage(contract.MessageSignal{Text: q.Text, NoAnswer: q.NoAnswer}, q.Size, full)
	case contract.SignalCancel:
		if no := c.nothingToCancel(); no != nil {
			return no
		}
		full = full && c.turn != nil && c.turn.stopped // the first one always counts
	case contract.SignalClose:
		full = full && c.closing != nil
	}
	if full {
		return refusal(contract.KindBusy, wording.TextTooMany)
	}
	return nil
}

func (c *conversation) foreseenMessage(m contract.MessageSignal, size int, full bool) *contract.Request {
	no, answers := c.objection(m), c.mayAnswer(m)
	switch {
	case no != nil:
		return no
	case answers && len(c.answers) >= contract.MaxOpenRequests, !answers && full:
		return refusal(contract.KindBusy, wording.TextTooMany)
	case !answers && len(c.queue) > 0 && c.isLong(): // it rolls over when the queue is empty
		return refusal(contract.KindBusy, wording.TextCatchUp)
	}
	no, _ = c.overBoundNow(m, size)
	return no
}

// mayAnswer reports whether a message is taken for the answer to a question.
func (c *conversation) mayAnswer(m contract.MessageSignal) bool {
	_, asked := c.openQuestion()
	return asked && !m.NoAnswer
}

// objection is why a message is not taken as things are, or nil.
func (c *conversation) objection(m contract.MessageSignal) *contract.Request {
	question, asked := c.openQuestion()
	switch {
	case c.closing != nil:
		return refusal(contract.KindCompleted, wording.TextCompleted)
	case asked && !m.NoAnswer:
		return noAnswer(question, m)
	case len(c.pending) > 0:
		result := c.waitingFor(0, contract.Inline(wording.TextWaiting))
		return &contract.Request{Settled: true, Refused: contract.KindWaiting, Result: &result}
	}
	return nil
}

// noAnswer is why a message does not answer a question, or nil when it does, or when
// the schema has to be read first.
func noAnswer(question contract.PendingApproval, m contract.MessageSignal) *contract.Request {
	switch {
	case m.Text.Blob != nil:
		return notAnswered(question, wording.TextLongAnswer)
	case question.Schema.Blob != nil:
		return nil
	}
	if _, err := answer.ParseText(m.Text.Inline, question.Schema.Raw); err != nil {
		return notAnswered(question, err.Error())
	}
	return nil
}

// notAnswered refuses a message that does not answer a question.
func notAnswered(question contract.PendingApproval, text string) *contract.Request {
	no := refusal(contract.KindInvalid, text)
	no.Result.WaitingApproval, no.Result.Approval = true, &question
	return no
}

// overBound is overBoundNow where the history has no messages over a bound from before
// there were bounds.
func (c *conversation) overBound(ctx workflow.Context, m contract.MessageSignal) *contract.Request {
	no, since := c.overBoundNow(m, size(m))
	if no == nil || workflow.GetVersion(ctx, changeBounds, workflow.DefaultVersion, boundsOfBytes) < since {
		return nil
	}
	return no
}

// The versions of changeBounds: numbers are bounded since the first, bytes since the second.
const (
	boundsOfNumbers = 1
	boundsOfBytes   = 2
)

// overBoundNow is why a message of that size is too much, or nil, and since which version.
func (c *conversation) overBoundNow(m contract.MessageSignal, size int) (no *contract.Request, since workflow.Version) {
	switch {
	case len(m.Credential) > contract.MaxSealed:
		return refusal(contract.KindTooLarge, wording.TextLongToken), boundsOfNumbers
	case len(m.Media) > contract.MaxParts:
		return refusal(contract.KindTooLarge, wording.TextManyFiles), boundsOfNumbers
	case len(c.queue) >= contract.MaxQueued && !c.mayAnswer(m):
		return refusal(contract.KindBusy, wording.TextQueueFull), boundsOfNumbers
	case size > contract.MaxMessage:
		return refusal(contract.KindTooLarge, wording.TextLongMessage), boundsOfBytes
	case c.queuedBytes()+size > contract.MaxQueuedBytes && !c.mayAnswer(m):
		return refusal(contract.KindBusy, wording.TextQueueLong), boundsOfBytes
	}
	return nil, 0
}

// queuedBytes is how much of history the queue takes, which the next run is given.
func (c *conversation) queuedBytes() (sum int) {
	for _, m := range c.queue {
		sum += size(m)
	}
	return sum
}

// nothingToCancel is what a cancellation settles to that changes nothing, else nil.
func (c *conversation) nothingToCancel() *contract.Request {
	if c.running() || c.in.Task && c.closing == nil {
		return nil
	}
	return &contract.Request{Settled: true, Result: &contract.Result{Response: contract.Inline(wording.TextNothingRunning)}}
}

func refusal(kind contract.Kind, text string) *contract.Request {
	return &contract.Request{Settled: true, Refused: kind, Result: &contract.Result{Response: contract.Inline(text)}}
}
