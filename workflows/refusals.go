package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/choice"
	"agent-stop-and-go/workflows/contract/title"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// metricRefused counts the signals that workflows themselves refuse.
const metricRefused = "conversation_signals_refused"

// changeBounds marks histories in which messages over a bound are refused.
const changeBounds = "bounds-of-messages"

// predictRefusal returns the result with which a signal would be refused, or nil if it would be
// carried out. The gateway queries it before it signals, so that refused requests write no
// history. It may refuse more than the workflow itself.
func (c *conversation) predictRefusal(q contract.ConversationQuery) *contract.Request {
	no := c.signalRefusal(q)
	if no != nil {
		no.ID, no.Predicted = q.RequestID, true
	}
	return no
}

func (c *conversation) signalRefusal(q contract.ConversationQuery) *contract.Request {
	full := c.ledger.Open()-len(c.queue) >= contract.MaxOpenRequests
	switch q.Signal {
	case contract.SignalMessage:
		return c.messageSignalRefusal(contract.MessageSignal{Text: q.Text, NoAnswer: q.NoAnswer, Model: q.Model}, q.Size, full)
	case contract.SignalCancel:
		if no := c.cancelRefusal(); no != nil {
			return no
		}
		full = full && c.turn != nil && c.turn.stopped // the first one always counts
	case title.SignalRename:
		return c.titleRefusal(q.Text.Inline)
	case contract.SignalClose:
		full = full && c.closing != nil
	}
	if full {
		return refusal(contract.KindBusy, wording.TextTooMany)
	}
	return nil
}

func (c *conversation) messageSignalRefusal(m contract.MessageSignal, size int, full bool) *contract.Request {
	no, answers := c.messageRefusal(m), c.isAnswer(m)
	switch {
	case no != nil:
		return no
	case answers && len(c.sentAnswers) >= contract.MaxOpenRequests, !answers && full:
		return refusal(contract.KindBusy, wording.TextTooMany)
	case !answers && len(c.queue) > 0 && c.isLong(): // it rolls over when the queue is empty
		return refusal(contract.KindBusy, wording.TextCatchUp)
	}
	no, _ = c.currentBoundRefusal(m, size)
	return no
}

// isAnswer reports whether a message is used as the answer to a question.
func (c *conversation) isAnswer(m contract.MessageSignal) bool {
	_, asked := c.openQuestion()
	return asked && !m.NoAnswer
}

// messageRefusal returns the settlement of a message that is refused in the current state, or
// that only sends the message of a turn again which waits for a login; otherwise nil.
func (c *conversation) messageRefusal(m contract.MessageSignal) *contract.Request {
	question, asked := c.openQuestion()
	p, again := c.openLogin(m.Text)
	switch {
	case c.closing != nil:
		return refusal(contract.KindCompleted, wording.TextCompleted)
	case choice.Problem(c.in.Agent, m.Model) != "":
		return refusal(contract.KindInvalid, choice.Problem(c.in.Agent, m.Model))
	case asked && !m.NoAnswer:
		return answerRefusal(question, m)
	case again && c.takesToken(p):
		return nil
	case again:
		result := c.joined(p)
		return &contract.Request{Settled: true, Result: &result}
	case len(c.pending) > 0:
		result := c.waitingFor(0, contract.Inline(wording.TextWaiting))
		return &contract.Request{Settled: true, Refused: contract.KindWaiting, Result: &result}
	}
	return nil
}

// answerRefusal returns why a message does not answer a question, or nil if it does, or if an
// activity has to parse it.
func answerRefusal(question contract.PendingApproval, m contract.MessageSignal) *contract.Request {
	switch {
	case m.Text.Blob != nil:
		return refuseAnswer(question, wording.TextLongAnswer)
	case question.Schema.Blob != nil:
		return nil
	}
	if _, err := answer.ParseText(m.Text.Inline, question.Schema.Raw); err != nil {
		return refuseAnswer(question, err.Error())
	}
	return nil
}

// refuseAnswer returns the refusal of a message that does not answer a question.
func refuseAnswer(question contract.PendingApproval, text string) *contract.Request {
	no := refusal(contract.KindInvalid, text)
	no.Result.WaitingApproval, no.Result.Approval = true, &question
	return no
}

// boundRefusal is currentBoundRefusal, except for histories that accepted messages over a bound
// before there were bounds.
func (c *conversation) boundRefusal(ctx workflow.Context, m contract.MessageSignal) *contract.Request {
	no, since := c.currentBoundRefusal(m, run.Size(m))
	if no == nil || workflow.GetVersion(ctx, changeBounds, workflow.DefaultVersion, boundsOfBytes) < since {
		return nil
	}
	return no
}

// The versions of changeBounds: the first bounds numbers, the second also bytes.
const (
	boundsOfNumbers = 1
	boundsOfBytes   = 2
)

// currentBoundRefusal returns why a message exceeds a bound, or nil, and the version that has
// the bound.
func (c *conversation) currentBoundRefusal(m contract.MessageSignal, size int) (no *contract.Request, since workflow.Version) {
	switch {
	case len(m.Credential) > contract.MaxSealed:
		return refusal(contract.KindTooLarge, wording.TextLongToken), boundsOfNumbers
	case len(m.Media) > contract.MaxParts:
		return refusal(contract.KindTooLarge, wording.TextManyFiles), boundsOfNumbers
	case len(c.queue) >= contract.MaxQueued && !c.isAnswer(m):
		return refusal(contract.KindBusy, wording.TextQueueFull), boundsOfNumbers
	case size > contract.MaxMessage:
		return refusal(contract.KindTooLarge, wording.TextLongMessage), boundsOfBytes
	case c.queuedBytes()+size > contract.MaxQueuedBytes && !c.isAnswer(m):
		return refusal(contract.KindBusy, wording.TextQueueLong), boundsOfBytes
	}
	return nil, 0
}

// queuedBytes returns the size of the queue in the input of the next run.
func (c *conversation) queuedBytes() (sum int) {
	for _, m := range c.queue {
		sum += run.Size(m)
	}
	return sum
}

// cancelRefusal returns the result of a cancellation that changes nothing, or nil.
func (c *conversation) cancelRefusal() *contract.Request {
	if c.running() || c.in.Task && c.closing == nil {
		return nil
	}
	return &contract.Request{Settled: true, Result: &contract.Result{Response: contract.Inline(wording.TextNothingRunning)}}
}

func refusal(kind contract.Kind, text string) *contract.Request {
	return &contract.Request{Settled: true, Refused: kind, Result: &contract.Result{Response: contract.Inline(text)}}
}
