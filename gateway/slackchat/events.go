package slackchat

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
)

// ackWithin is how long an acknowledgement waits for what it acknowledges to be durable. Slack
// waits three seconds, and sends again what was not acknowledged.
const ackWithin = 1500 * time.Millisecond

// handle handles one event. It is acknowledged as soon as it is durable, and in time whatever
// happens.
func (c *Chat) handle(ctx context.Context, sm *socketmode.Client, e socketmode.Event) {
	if e.Request == nil || e.Request.EnvelopeID == "" {
		c.report(e)
		return
	}
	var once sync.Once
	ack := func() {
		if ctx.Err() != nil { // it may be lost: Slack sends it again
			return
		}
		once.Do(func() {
			if err := sm.AckCtx(ctx, e.Request.EnvelopeID, nil); err != nil && ctx.Err() == nil {
				c.Logger.Warn("an event of Slack was not acknowledged", "error", err)
			}
		})
	}
	defer ack()
	user := userOf(e.Data)
	if ok, first := c.open.enter(user); !ok {
		c.drop(ctx, e, user, first)
		return
	}
	defer c.open.leave(user)
	late := time.AfterFunc(ackWithin, ack)
	defer late.Stop()
	switch data := e.Data.(type) {
	case slackevents.EventsAPIEvent:
		if in, ok := data.InnerEvent.Data.(*slackevents.AgentSessionStoppedEvent); ok {
			c.stopped(ctx, in, ack)
			return
		}
		m, ok := c.messageOf(data)
		if key := m.channel + " " + m.ts; ok && c.first(key) && !c.receive(ctx, m, ack) {
			c.seen.Remove(key) // it comes again, if it was not acknowledged
		}
	case slack.InteractionCallback:
		c.interact(ctx, data, ack)
	case slack.SlashCommand:
		ack()
		c.slash(ctx, data)
	}
}

// userOf returns who has caused an event, or "".
func userOf(data any) string {
	switch data := data.(type) {
	case slackevents.EventsAPIEvent:
		switch in := data.InnerEvent.Data.(type) {
		case *slackevents.AppMentionEvent:
			return in.User
		case *slackevents.MessageEvent:
			return in.User
		case *slackevents.AgentSessionStoppedEvent:
			return in.User
		}
	case slack.InteractionCallback:
		return data.User.ID
	case slack.SlashCommand:
		return data.UserID
	}
	return ""
}

// maxOpen bounds the events of one user that are handled at a time. Those beyond it are dropped: if
// they were not acknowledged, Slack would send them again, and at last none to anybody.
const maxOpen = 20

// open counts the events that are handled, by user.
type open struct {
	mu    sync.Mutex
	users map[string]*load
}

type load struct {
	events  int
	dropped bool
}

// enter counts an event. ok reports whether it may be handled, and first whether it is the first of
// several that may not.
func (o *open) enter(user string) (ok, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.users == nil {
		o.users = map[string]*load{}
	}
	if o.users[user] == nil {
		o.users[user] = &load{}
	}
	n := o.users[user]
	if n.events >= maxOpen {
		first, n.dropped = !n.dropped, true
		return false, first
	}
	n.events++
	return true, false
}

func (o *open) leave(user string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.users[user]
	if n.events--; n.events == 0 {
		delete(o.users, user)
	}
}

// drop does not handle an event. The author of a message gets a notice, once for several.
func (c *Chat) drop(ctx context.Context, e socketmode.Event, user string, first bool) {
	if !first {
		return
	}
	c.Logger.Warn("a user of Slack sends faster than the agent takes it; events are dropped", "user", user, "type", e.Type)
	if data, ok := e.Data.(slackevents.EventsAPIEvent); ok {
		if m, ok := c.messageOf(data); ok {
			c.tell(ctx, m.place(), user, "You send faster than the agent takes it. This message was not sent, and neither are more of them: send them again in a moment.")
		}
	}
}

// report logs the state of the connection.
func (c *Chat) report(e socketmode.Event) {
	switch data := e.Data.(type) {
	case *slack.ConnectionErrorEvent:
		c.Logger.Warn("Slack cannot be reached; the connection is tried again", "error", data.ErrorObj, "pause", data.Backoff)
	case *socketmode.ConnectedEvent:
		c.Logger.Info("connected to Slack")
	case *socketmode.ErrorBadMessage:
		c.Logger.Warn("Slack has sent what cannot be read", "error", data.Cause)
	}
}

// inbound is a message of a person.
type inbound struct {
	channel, user, text, ts, root string
	files                         bool
}

func (m inbound) place() place { return place{m.channel, m.root} }

// messageOf returns the message to the agent that an event is: a direct message, or a mention. Slack
// sends a mention as two events, which are one message.
func (c *Chat) messageOf(e slackevents.EventsAPIEvent) (inbound, bool) {
	_, bot := c.self()
	if c.foreign(append(authorTeams(e), e.TeamID)...) {
		return inbound{}, false
	}
	var m inbound
	switch in := e.InnerEvent.Data.(type) {
	case *slackevents.AppMentionEvent:
		if in.BotID != "" || in.Edited != nil {
			return m, false
		}
		m = inbound{in.Channel, in.User, in.Text, in.TimeStamp, in.ThreadTimeStamp, len(in.Files) > 0}
	case *slackevents.MessageEvent:
		if in.BotID != "" || !in.IsIM() || !plain(in.SubType) {
			return m, false
		}
		m = inbound{in.Channel, in.User, in.Text, in.TimeStamp, in.ThreadTimeStamp, in.Message != nil && len(in.Message.Files) > 0}
	}
	if m.root == "" {
		m.root = m.ts
	}
	return m, m.user != "" && m.user != bot && m.ts != "" && m.channel != ""
}

// foreign reports whether one of the workspaces is known and not that of the agent. Channels may be
// shared with workspaces of other organisations, whose users are nobody here.
func (c *Chat) foreign(teams ...string) bool {
	own, _ := c.self()
	return slices.ContainsFunc(teams, func(team string) bool { return team != "" && team != own })
}

// authorTeams are the workspaces that an event names of who has written the message.
func authorTeams(e slackevents.EventsAPIEvent) []string {
	data, ok := e.Data.(*slackevents.EventsAPICallbackEvent)
	if !ok || data.InnerEvent == nil {
		return nil
	}
	var in struct {
		Team       string `json:"team"`
		UserTeam   string `json:"user_team"`
		SourceTeam string `json:"source_team"`
		Profile    struct {
			Team string `json:"team"`
		} `json:"user_profile"`
	}
	if json.Unmarshal(*data.InnerEvent, &in) != nil {
		return []string{"?"} // of an unknown one
	}
	return []string{in.Team, in.UserTeam, in.SourceTeam, in.Profile.Team}
}

// plain reports whether messages of a subtype are what somebody has written, and not that
// something was changed, deleted or joined.
func plain(subtype string) bool {
	return subtype == "" || subtype == slack.MsgSubTypeFileShare || subtype == slack.MsgSubTypeThreadBroadcast || subtype == slack.MsgSubTypeMeMessage
}

// maxSeen bounds the messages that are remembered: Slack repeats an event three times within an
// hour. A repetition of an older one has the ID of its request.
const maxSeen = 4096

// first reports whether a message is new, and remembers it.
func (c *Chat) first(key string) bool {
	known, _ := c.seen.ContainsOrAdd(key, struct{}{})
	return !known
}
