package slackchat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"agent-stop-and-go/gateway/slackchat/projection"
)

// cease ends the stream, which becomes a post with a digest. If it does not show all of what that stands
// for, the digest is "", and the post is changed.
func (t *thread) cease(ctx context.Context, digest string, last ...slack.StreamChunk) error {
	s := t.stream
	err := t.stop(ctx, s.ts, s.key, digest, last...)
	var refused slack.SlackErrorResponse
	if len(last) > 0 && errors.As(err, &refused) && !isSlack(err, over...) && !hopeless(err) { // it does not take that
		digest = ""
		err = t.stop(ctx, s.ts, s.key, digest)
	}
	switch {
	case isSlack(err, over...):
		digest = ""
		t.chat.session(ctx, t.at, slack.AgentSessionStatusActive)
	case err != nil:
		return fmt.Errorf("stop a stream: %w", err)
	}
	t.stream, t.posts[s.key] = nil, &post{ts: s.ts, digest: digest}
	if time.Until(s.until) < t.chat.StreamLife/2 { // not what was refused just now
		t.again = s.key
		s.sent.Forget(t.told)
	}
	return nil
}

// stop ends a stream, with the metadata of a post.
func (t *thread) stop(ctx context.Context, ts, key, digest string, last ...slack.StreamChunk) error {
	options := []slack.MsgOption{t.metadata(key, post{digest: digest})}
	if len(last) > 0 {
		options = append(options, slack.MsgOptionChunks(last...))
	}
	return t.chat.pace.call(ctx, "chat.stopStream", t.at.session(), func() error {
		_, _, err := t.chat.api.StopStreamContext(ctx, t.at.channel, ts, options...)
		return err
	})
}

// adopt ends the streams that an earlier gateway has left, and makes them the posts that the thread
// lacks. Those for which there is none are deleted.
func (t *thread) adopt(ctx context.Context, want []projection.Wanted) error {
	for ; len(t.left) > 0; t.left = t.left[1:] {
		ts, key := t.left[0], ""
		if at := slices.IndexFunc(want, func(w projection.Wanted) bool { return w.Flow != nil && t.posts[w.Key] == nil }); at >= 0 {
			key = want[at].Key
		}
		err := t.stop(ctx, ts, key, "")
		switch {
		case isSlack(err, "message_not_owned_by_app"): // it is none of this app
			continue
		case isSlack(err, over...):
			t.chat.session(ctx, t.at, slack.AgentSessionStatusActive)
		case err != nil:
			return fmt.Errorf("stop the stream of an earlier gateway: %w", err)
		}
		if t.posts[key] = (&post{ts: ts}); key != "" {
			continue
		}
		if err := t.remove(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// reuse makes a control that is not needed any more the first message of its part, if there is none.
func (t *thread) reuse(want []projection.Wanted) {
	needed := map[string]bool{}
	for _, w := range want {
		needed[w.Key] = true
	}
	for _, w := range want {
		if w.Flow == nil || t.posts[w.Key] != nil || !w.First() {
			continue
		}
		if key := projection.Control(w.Key); t.posts[key] != nil && !needed[key] && !t.posts[key].lost {
			t.posts[w.Key] = t.posts[key]
			delete(t.posts, key)
		}
	}
}

// partingTime is how long a gateway that is closed takes to end a stream.
const partingTime = 2 * time.Second

// part ends the stream of a gateway that is closed: nobody may go on with it.
func (t *thread) part(ctx context.Context) {
	if t.stream == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), partingTime)
	defer cancel()
	if err := t.cease(ctx, ""); err != nil {
		t.chat.Logger.Warn("a stream in Slack was not ended; the next gateway does it", "channel", t.at.channel, "thread", t.at.root, "error", err)
	}
}

// session sets the status of the thread's agent session, if the app is an agent in Slack's sense. One that
// works has Slack's own Stop, and is active again when its stream ends.
func (c *Chat) session(ctx context.Context, at place, status string) {
	team, _ := c.self()
	if _, refused := c.sessionless.Load(team); refused {
		return
	}
	err := c.pace.attempt(ctx, "agents.sessions.setStatus", at.session(), func() error {
		_, err := c.api.SetAgentSessionStatusContext(ctx, slack.AgentSessionSetStatusParameters{Status: status, ChannelID: at.channel, ThreadTS: at.root})
		return err
	})
	var refused slack.SlackErrorResponse
	switch {
	case errors.As(err, &refused):
		c.sessionless.Store(team, true)
		c.Logger.Info("the app is no agent in Slack, which shows no Stop of its own", "team", team, "error", err)
	case err != nil && ctx.Err() == nil:
		c.Logger.Warn("Slack does not know whether the agent works", "channel", at.channel, "thread", at.root, "status", status, "error", err)
	}
}
