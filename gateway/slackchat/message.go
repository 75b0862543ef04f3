package slackchat

import (
	"context"
	"errors"
	"strings"

	"github.com/slack-go/slack"

	"agent-stop-and-go/gateway/command"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/slackchat/mrkdwn"
	"agent-stop-and-go/workflows/contract"
)

// receive takes a message of a person. durable is called when it cannot be lost any more. It reports
// whether that is so, or the person was told what became of it.
func (c *Chat) receive(ctx context.Context, m inbound, durable func()) (settled bool) {
	_, bot := c.self()
	text := mrkdwn.Plain(m.text, bot)
	if m.files {
		defer func() { // not before: the message does not wait for that, and is received again if it is not settled
			if settled {
				c.tell(ctx, m.place(), m.user, "The files of your message are not read: the agent gets its text only.")
			}
		}()
	}
	if text == "" {
		return c.tell(ctx, m.place(), m.user, "Write what the agent shall do behind the mention, or !help.")
	}
	acting, caller, err := c.caller(ctx, m.user, m.place().session())
	if err != nil {
		return c.tellError(ctx, m.place(), m.user, err)
	}
	message, said, err := c.interpret(acting, caller, m, text)
	if said != "" {
		settled = c.tell(ctx, m.place(), m.user, said)
	}
	if err == nil && message != nil {
		settled = false
		err = c.send(ctx, acting, caller, m, *message, func() { settled = true; durable() })
	}
	if err != nil {
		return c.tellError(ctx, m.place(), m.user, err) || settled
	}
	return settled
}

// interpret carries out the commands of a text, and returns the message that is left.
func (c *Chat) interpret(ctx context.Context, caller service.Caller, m inbound, text string) (*service.Message, string, error) {
	in := command.Input{Text: text, Brief: true, By: caller.Subject, Key: m.channel + " " + m.ts}
	if strings.HasPrefix(text, "!") && !strings.HasPrefix(text, "!!") {
		if err := elsewhere(text); err != nil {
			return nil, "", err
		}
		if err := c.shown(ctx, m, &in); err != nil {
			return nil, "", err
		}
	}
	reply, err := c.commands.Run(ctx, caller, in)
	if err != nil {
		return nil, "", err
	}
	said := ""
	if reply.Text != "" {
		said = "```\n" + mrkdwn.Escape(strings.ReplaceAll(reply.Text, "```", "'''")) + "\n```"
	}
	switch {
	case reply.Message != nil:
		out := &service.Message{Text: reply.Message.Text, Model: reply.Message.Model}
		if out.Model == "" && reply.Model != "" {
			out.Model, out.KeepModel = reply.Model, true
		}
		return out, said, nil
	case reply.Model != "":
		said = "A model is chosen with a message: `!model " + mrkdwn.Escape(reply.Model) + "` in the first line, and the message below it."
	}
	return nil, said, nil
}

// send sends a message to the conversation of its thread, which it may begin, and follows it.
func (c *Chat) send(ctx, acting context.Context, caller service.Caller, m inbound, message service.Message, durable func()) error {
	id, err := c.conversation(acting, m.place())
	if err != nil {
		return err
	}
	q := service.Request{ConversationID: id, ID: caller.RequestID(id, Via, m.channel+" "+m.ts), Repeatable: true}
	message.ClientID = q.ID
	begins := m.ts == m.root
	known, fresh, err := c.transmit(acting, caller, q, message, begins)
	if err == nil {
		err = known.Refusal()
	}
	switch {
	case service.IsKind(err, contract.KindNotFound) && c.Proven:
		return service.Errorf(contract.KindForbidden, "the conversation of this thread is of somebody else. Mention the agent outside of the thread to begin your own")
	case service.IsKind(err, contract.KindWaiting):
		return service.Errorf(contract.KindWaiting, "your message was not sent, because a call in this thread waits for a decision first")
	case err != nil:
		return err
	}
	durable()
	c.follow(ctx, m.place(), id, m.user, fresh && begins).expect(ctx, q, m.user)
	return nil
}

// transmit sends a message, or starts the conversation with it. fresh: it is the first of it.
func (c *Chat) transmit(ctx context.Context, caller service.Caller, q service.Request, m service.Message, begins bool) (known *service.Settlement, fresh bool, err error) {
	if !begins {
		known, err = c.Service.Send(ctx, caller, q, m)
		if !service.IsKind(err, contract.KindNotFound) {
			return known, false, err
		}
	}
	started, err := c.Followers.Start(ctx, c.Service, caller, service.NewConversation{Request: q, Message: &m})
	if err != nil || !started.Existed {
		return nil, err == nil, err
	}
	known, err = c.Service.Send(ctx, caller, q, m)
	return known, false, err
}

// slash carries out /agent, which Slack sends without a thread.
func (c *Chat) slash(ctx context.Context, in slack.SlashCommand) {
	answer := func(text string) {
		err := c.pace.call(ctx, "response", in.UserID, func() error {
			return slack.PostWebhookContext(ctx, in.ResponseURL, &slack.WebhookMessage{ResponseType: slack.ResponseTypeEphemeral, Text: text})
		})
		if err != nil {
			c.Logger.Warn("a command in Slack was not answered", "channel", in.ChannelID) // the error has the secret address for answers
		}
	}
	if c.foreign(in.TeamID) {
		answer("This agent is for the people of its own workspace.")
		return
	}
	if strings.TrimSpace(in.Text) == "unlink" {
		answer(c.unlink(ctx, in.UserID))
		return
	}
	acting, caller, err := c.caller(ctx, in.UserID, sessionPrefix+in.UserID)
	said := ""
	if err == nil {
		text := strings.TrimSpace(in.Text)
		if text == "" {
			text = "help"
		}
		if text = "!" + strings.TrimLeft(text, "!"); !onlyCommands(text) {
			err = service.Errorf(contract.KindInvalid, "/agent takes commands, and no message: send it to the agent in a thread. Nothing was carried out")
		} else {
			_, said, err = c.interpret(acting, caller, inbound{channel: in.ChannelID, user: in.UserID, ts: in.TriggerID}, text)
		}
	}
	if err != nil {
		said = c.words(err)
	}
	answer(said)
}

// tell says something to one person in a thread, which others do not see. It reports whether Slack
// has taken it.
func (c *Chat) tell(ctx context.Context, at place, user, text string) bool {
	err := c.pace.call(ctx, "chat.postEphemeral", user, func() error {
		options := []slack.MsgOption{slack.MsgOptionText(text, false), slack.MsgOptionDisableLinkUnfurl()}
		if at.root != "" {
			options = append(options, slack.MsgOptionTS(at.root))
		}
		_, err := c.api.PostEphemeralContext(ctx, at.channel, user, options...)
		return err
	})
	if err != nil && ctx.Err() == nil {
		c.Logger.Warn("somebody in Slack was not told", "channel", at.channel, "user", user, "error", err)
	}
	return err == nil
}

func (c *Chat) tellError(ctx context.Context, at place, user string, err error) bool {
	return ctx.Err() == nil && c.tell(ctx, at, user, c.words(err))
}

// words returns an error as a text for people. What is no error for callers is only logged.
func (c *Chat) words(err error) string {
	var unlinked *unlinkedError
	var known *service.Error
	switch {
	case errors.As(err, &unlinked):
		return unlinked.text
	case errors.As(service.Explain(err), &known):
		return mrkdwn.Escape(sentence(known.Text))
	case errors.Is(err, service.ErrClosing), errors.Is(err, context.Canceled):
		return "The gateway is being restarted: send it again in a moment."
	}
	c.Logger.Error("a request from Slack has failed", "error", err)
	return mrkdwn.Escape(sentence(service.InternalText))
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return text
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if strings.ContainsAny(text[len(text)-1:], ".!?`") {
		return text
	}
	return text + "."
}
