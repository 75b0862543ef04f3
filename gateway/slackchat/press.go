package slackchat

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/workflows/contract"
)

// putOff is for how long "Not now" puts an approval off.
const putOff = 2 * time.Hour

// press is a button that was pressed, or a dialog that was sent.
type press struct {
	at   place
	user string
	// id is the UUID of an approval, or of a conversation for the stop button.
	id, ts string
}

// interact handles buttons and dialogs.
func (c *Chat) interact(ctx context.Context, in slack.InteractionCallback, ack func()) {
	ack() // what is pressed is pressed again if it was lost, and decides once
	if c.foreign(in.Team.ID, in.User.TeamID) {
		return
	}
	switch in.Type {
	case slack.InteractionTypeViewSubmission:
		if in.View.CallbackID == card.CallbackReject {
			uuid, where, _ := strings.Cut(in.View.PrivateMetadata, " ")
			reason := ""
			if in.View.State != nil {
				reason = in.View.State.Values[card.ReasonBlock][card.ReasonAction].Value
			}
			c.decide(ctx, press{at: parsePlace(where), user: in.User.ID, id: uuid}, false, reason)
		}
	case slack.InteractionTypeBlockActions:
		root := in.Message.ThreadTimestamp
		if root == "" {
			root = in.Container.ThreadTs
		}
		for _, a := range in.ActionCallback.BlockActions {
			p := press{place{in.Channel.ID, root}, in.User.ID, a.Value, in.Message.Timestamp}
			c.pressed(ctx, p, a.ActionID, in.TriggerID)
		}
	}
}

func (c *Chat) pressed(ctx context.Context, p press, action, trigger string) {
	switch action {
	case card.Approve:
		c.decide(ctx, p, true, "")
	case card.Reject:
		c.ask(ctx, p, trigger)
	case card.Later:
		c.later(ctx, p)
	case card.Stop:
		c.stop(ctx, p)
	}
}

// ask opens the dialog that asks why a call is rejected. Slack opens it within three seconds of the
// press only.
func (c *Chat) ask(ctx context.Context, p press, trigger string) {
	quick, cancel := context.WithTimeout(ctx, ackWithin)
	view, err := c.Service.Approval(service.ActingItself(quick), p.id)
	cancel()
	if err == nil && view.Result != nil {
		c.refuse(ctx, p, *view.Result)
		return
	}
	if _, err := c.api.OpenViewContext(ctx, trigger, card.Dialog(p.id, p.at.String())); err != nil {
		c.Logger.Warn("a dialog in Slack was not opened", "error", err)
		c.tell(ctx, p.at, p.user, "The dialog could not be opened; nothing was decided. Press the button again, or write `!reject` with a reason.")
	}
}

// later puts an approval off for who has pressed the button.
func (c *Chat) later(ctx context.Context, p press) {
	acting, _, err := c.caller(ctx, p.user, p.at.session())
	if err == nil && !contract.IsUUID(p.id) {
		err = service.NoApproval(p.id)
	}
	if err == nil {
		err = c.Service.Later(acting, p.id, c.Now().Add(putOff).Truncate(time.Second))
	}
	switch {
	case service.IsKind(err, contract.KindDecided):
		c.late(ctx, p)
	case err != nil:
		c.tellError(ctx, p.at, p.user, c.explain(ctx, p, err))
	default:
		c.tell(ctx, p.at, p.user, "Put off for two hours, for you. It still waits, for everybody, and expires when it would.")
	}
}

// stop cancels the turn that runs.
func (c *Chat) stop(ctx context.Context, p press) {
	acting, caller, err := c.caller(ctx, p.user, p.at.session())
	if err == nil {
		err = c.cancel(acting, caller, p)
	}
	if err != nil {
		c.tellError(ctx, p.at, p.user, err)
		return
	}
	c.touch(ctx, p.at, p.id)
}

// stopped is Slack's own Stop: it has ended the streams of the thread, and the turn is cancelled as with the
// button. The event does not say of which workspace the user is.
func (c *Chat) stopped(ctx context.Context, in *slackevents.AgentSessionStoppedEvent, ack func()) {
	at := place{in.Channel, in.ThreadTimestamp}
	id, err := c.conversation(service.ActingItself(ctx), at)
	if err == nil {
		err = c.pace.call(ctx, "users.info", in.User, func() error {
			user, err := c.api.GetUserInfoContext(ctx, in.User)
			if err == nil && c.foreign(user.TeamID) {
				err = errForeign
			}
			return err
		})
	}
	if err != nil {
		c.Logger.Warn("a turn was not stopped for a user of Slack", "channel", at.channel, "thread", at.root, "user", in.User, "error", err)
		ack()
		c.touch(ctx, at, id) // its stream has ended
		return
	}
	ack()
	c.stop(ctx, press{at, in.User, id, in.EventTimestamp})
}

var errForeign = errors.New("the user is of another workspace")

func (c *Chat) cancel(ctx context.Context, caller service.Caller, p press) error {
	id, err := c.conversation(ctx, p.at)
	if err != nil {
		return err
	}
	if id != p.id {
		return service.NoConversation(p.id)
	}
	q := service.Request{ConversationID: id, ID: caller.RequestID(id, "slack stop", p.ts), Repeatable: true}
	known, err := c.Service.CancelTurn(ctx, caller, q, service.Note{Reason: "stopped in Slack"})
	if err == nil {
		err = known.Refusal()
	}
	if service.IsKind(err, contract.KindNotFound) && c.Proven {
		return service.Errorf(contract.KindForbidden, "only who has begun this thread stops its turn")
	}
	return err
}
