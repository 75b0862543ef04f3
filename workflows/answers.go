package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// viaMessage marks answers that came as a message.
const viaMessage = "message"

// sentAnswer is a message on its way to the question that it answers.
type sentAnswer struct{ uuid, request string }

// answer takes a message that answers a question. It goes to the approval, whose
// decision settles the request, so that of two answers the one that came first
// counts. The text itself stays out of the transcript.
func (c *conversation) answer(ctx workflow.Context, question contract.PendingApproval, m contract.MessageSignal) {
	decision, err := readText(ctx, m.Text.Inline, question.Schema)
	if err != nil {
		c.refuse(ctx, m.RequestID, *notAnswered(question, err.Error()))
		return
	}
	sent := sentAnswer{question.UUID, m.RequestID}
	c.answers = append(c.answers, sent)
	decision.RequestID, decision.Via, decision.Credential = m.RequestID, viaMessage, m.Credential
	workflow.Go(ctx, func(ctx workflow.Context) {
		err := workflow.SignalExternalWorkflow(ctx, contract.ApprovalWorkflowID(question.UUID), "", contract.SignalDecide, decision).Get(ctx, nil)
		if err != nil { // somebody else was faster, or it was withdrawn
			c.dropAnswers(func(a sentAnswer) bool { return a == sent })
			c.wake = true
		}
	})
}

// answered reports whether a decision is what a message has answered, and takes note
// of that.
func (c *conversation) answered(r contract.ApprovalResult) bool {
	i := slices.Index(c.answers, sentAnswer{r.UUID, r.RequestID})
	if i < 0 {
		return false
	}
	c.answers = slices.Delete(slices.Clone(c.answers), i, i+1)
	return true
}

// dropAnswers refuses messages that came too late for their question.
func (c *conversation) dropAnswers(late func(sentAnswer) bool) {
	c.answers = slices.DeleteFunc(slices.Clone(c.answers), func(a sentAnswer) bool {
		if !late(a) {
			return false
		}
		c.ledger.Refuse(a.request, contract.KindDecided, contract.Result{Response: contract.Inline(wording.TextAnswered)})
		return true
	})
}

// dropLateAnswers refuses the messages that answer what does not wait any more.
func (c *conversation) dropLateAnswers() {
	c.dropAnswers(func(a sentAnswer) bool {
		return !slices.ContainsFunc(c.pending, func(p openApproval) bool { return p.UUID == a.uuid })
	})
}

// receiveQuestions hands questions to the calls of the turn's leaf. Those of
// composite nodes come to the nodes themselves.
func (c *conversation) receiveQuestions(ctx workflow.Context) {
	var leaves []*leaf
	if c.turn != nil && c.turn.leaf != nil {
		leaves = append(leaves, c.turn.leaf)
	}
	takeQuestions(ctx, c.questions, leaves...)
}
