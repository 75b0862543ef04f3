package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/approval"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// sentAnswer is a message that was sent to the question that it answers.
type sentAnswer struct{ uuid, request string }

// answer sends a message to the approval of the question that it answers. The decision settles
// the request, so that the first of two answers counts. The text is not written to the
// transcript.
func (c *conversation) answer(ctx workflow.Context, question contract.PendingApproval, m contract.MessageSignal) {
	if m.Identity.Authenticated() && len(question.Approvers) > 0 && !approvers.May(m.Identity, c.in.Owner.Key(), question.Approvers) {
		c.refuse(ctx, m.RequestID, *refusal(contract.KindForbidden, wording.TextNotApprover))
		return
	}
	decision, err := approval.ReadText(ctx, m.Text.Inline, question.Schema)
	if err != nil {
		c.refuse(ctx, m.RequestID, *refuseAnswer(question, err.Error()))
		return
	}
	decision.Via = approval.ViaMessage
	c.sendAnswer(ctx, question, m, decision)
}

// sendAnswer sends the decision that a message is to an approval.
func (c *conversation) sendAnswer(ctx workflow.Context, question contract.PendingApproval, m contract.MessageSignal, decision contract.DecideSignal) {
	sent := sentAnswer{question.UUID, m.RequestID}
	c.sentAnswers = append(c.sentAnswers, sent)
	decision.RequestID, decision.Credential, decision.Identity = m.RequestID, m.Credential, m.Identity
	to := contract.ApprovalWorkflowID(question.UUID)
	if m.Identity.Authenticated() {
		decision.By = m.Identity.Subject
		decision.Proof = c.proofs.Make(ctx, to, contract.SignalDecide, decision)
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		err := workflow.SignalExternalWorkflow(ctx, to, "", contract.SignalDecide, decision).Get(ctx, nil)
		if err != nil { // already decided, or withdrawn
			c.dropAnswers(func(a sentAnswer) bool { return a == sent })
			c.wake = true
		}
	})
}

// takeAnswer reports whether a decision came from a message, and forgets that message.
func (c *conversation) takeAnswer(r contract.ApprovalResult) bool {
	i := slices.Index(c.sentAnswers, sentAnswer{r.UUID, r.RequestID})
	if i < 0 {
		return false
	}
	c.sentAnswers = slices.Delete(slices.Clone(c.sentAnswers), i, i+1)
	return true
}

// dropAnswers refuses messages that came too late for their question.
func (c *conversation) dropAnswers(late func(sentAnswer) bool) {
	c.sentAnswers = slices.DeleteFunc(slices.Clone(c.sentAnswers), func(a sentAnswer) bool {
		if !late(a) {
			return false
		}
		c.ledger.Refuse(a.request, contract.KindDecided, contract.Result{Response: contract.Inline(wording.TextAnswered)})
		return true
	})
}

// dropLateAnswers refuses messages that answer questions that are no longer open.
func (c *conversation) dropLateAnswers() {
	c.dropAnswers(func(a sentAnswer) bool {
		return !slices.ContainsFunc(c.pending, func(p openApproval) bool { return p.UUID == a.uuid })
	})
}

// receiveQuestions passes questions to the calls of the turn's leaf. Composite nodes receive
// theirs themselves.
func (c *conversation) receiveQuestions(ctx workflow.Context) {
	var leaves []*leaf
	if c.turn != nil && c.turn.leaf != nil {
		leaves = append(leaves, c.turn.leaf)
	}
	if routeQuestions(ctx, c.questions, leaves...) {
		c.publish(ctx)
	}
}

// maxJoins is how many repeated messages of one turn may bring a token. Each is a decision in the
// history.
const maxJoins = 16

// openLogin returns the login that the turn waits for if a text is the message of the turn, sent
// again.
func (c *conversation) openLogin(text contract.Text) (contract.PendingApproval, bool) {
	i := slices.IndexFunc(c.pending, func(p openApproval) bool { return p.Login != nil })
	if i < 0 || c.turn == nil || !decide.SameText(c.turn.question.Content, text) {
		return contract.PendingApproval{}, false
	}
	return c.pending[i].PendingApproval, true
}

// takesToken reports whether the message of the turn, sent again, may bring the token that a login
// is about.
func (c *conversation) takesToken(p contract.PendingApproval) bool {
	return p.Login.Way == login.AtAgent && c.turn.joins < maxJoins
}

// join adds a repeated message to the turn that waits for a login. With a new token for it the
// turn goes on; otherwise the login that it waits for is the answer.
func (c *conversation) join(ctx workflow.Context, p contract.PendingApproval, m contract.MessageSignal) {
	if m.Credential == "" || !c.takesToken(p) || p.Login.Caller != "" && m.Identity.Key() != p.Login.Caller {
		c.ledger.Settle(m.RequestID, c.joined(p))
		return
	}
	c.turn.joins++
	c.sendAnswer(ctx, p, m, contract.DecideSignal{Approved: true, Via: login.Via, Reason: wording.LoggedIn})
}

// joined is the answer to a repeated message that brings nothing new.
func (c *conversation) joined(p contract.PendingApproval) contract.Result {
	i := slices.IndexFunc(c.pending, func(o openApproval) bool { return o.UUID == p.UUID })
	return c.waitingFor(i, contract.Inline(p.Description))
}
