package slackchat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/mrkdwn"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// decisionWithin is how long a press waits for the record of its decision.
const decisionWithin = 10 * time.Second

// decide decides an approval for who has pressed a button, and says privately what did not come of
// it. What did come of it the card says.
func (c *Chat) decide(ctx context.Context, p press, approved bool, reason string) {
	err := c.decideFor(ctx, p, approved, reason)
	if err != nil {
		c.tellError(ctx, p.at, p.user, c.explain(ctx, p, err))
	}
}

func (c *Chat) decideFor(ctx context.Context, p press, approved bool, reason string) error {
	if !contract.IsUUID(p.id) {
		return service.NoApproval(p.id)
	}
	acting, caller, err := c.caller(ctx, p.user, p.at.session())
	if err != nil {
		return err
	}
	subject, err := c.Service.Subject(acting, p.id)
	if err != nil {
		return err
	}
	view, err := c.Service.Approval(service.ActingItself(ctx), p.id)
	switch {
	case err != nil:
		return err
	case view.Result != nil:
	case !passcode.Takes(view.Pending):
		return service.Errorf(contract.KindInvalid, "this wants more than a yes or a no: decide it on the page")
	case approved && !card.Whole(view.Pending):
		return c.onThePage(p.id)
	}
	signal := contract.DecideSignal{
		Approved: approved, Reason: reason, Via: caller.Via(Via, view.Pending, approved),
		RequestID: contract.NameUUID(p.id, fmt.Sprintf("slack %s %t", p.user, approved)),
	}
	receipt, err := c.Service.Decide(acting, caller, service.Decision{UUID: p.id, Subject: &subject, Signal: signal})
	if err != nil {
		return err
	}
	c.touch(ctx, p.at, subject.ConversationID)
	within, cancel := context.WithTimeout(acting, decisionWithin)
	defer cancel()
	record, err := c.Service.DecisionRecord(within, receipt)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, service.ErrClosing):
		c.tell(ctx, p.at, p.user, "Your decision was sent; its record is not there yet.")
		return nil
	case err != nil:
		return err
	case record.RequestID != signal.RequestID:
		c.refuse(ctx, p, record)
	case receipt.Late: // the same press again
		c.tell(ctx, p.at, p.user, "This is decided: "+mrkdwn.Escape(card.Outcome(record))+".")
	}
	c.touch(ctx, p.at, subject.ConversationID)
	return nil
}

// refuse tells somebody that an approval had ended before.
func (c *Chat) refuse(ctx context.Context, p press, record contract.ApprovalResult) {
	c.tell(ctx, p.at, p.user, "This was over before: "+mrkdwn.Escape(card.Outcome(record))+". Your press decided nothing.")
	c.touch(ctx, p.at, record.ConversationID)
}

// late tells somebody how an approval has ended.
func (c *Chat) late(ctx context.Context, p press) {
	view, err := c.Service.Approval(service.ActingItself(ctx), p.id)
	if err != nil || view.Result == nil {
		c.tell(ctx, p.at, p.user, "This was over before. Your press decided nothing.")
		return
	}
	c.refuse(ctx, p, *view.Result)
}

// explain adds to a refusal who may decide, unless the rules have ended the approval. It reveals no
// approval: the card in the thread is for everybody.
func (c *Chat) explain(ctx context.Context, p press, err error) error {
	if !c.Proven || !service.IsKind(err, contract.KindForbidden) && !service.IsKind(err, contract.KindNotFound) {
		return err
	}
	view, unread := c.Service.Approval(service.ActingItself(ctx), p.id)
	if unread != nil {
		return err
	}
	switch r := view.Result; {
	case r != nil && r.Via == verdict.Via:
		return service.Errorf(contract.KindForbidden, "%s", cmp.Or(r.Reason, err.Error()))
	case r != nil:
		return service.Errorf(contract.KindForbidden, "this is for others to decide, and it is over: %s", card.Outcome(*r))
	}
	return service.Errorf(contract.KindForbidden, "this is for others to decide. Ask: %s", card.WhoMay(view.Pending))
}
