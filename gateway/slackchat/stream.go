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

// streamLife is how long a stream is used. Slack ends it five minutes after its start, whatever is appended,
// and shows an error then.
const streamLife = 4 * time.Minute

// stream is a message that is being streamed: a thread has at most one. Slack knows nothing of what it
// shows until it ends, because a stream gets its metadata then. What a gateway has left that was killed is
// found all the same: it is below a control (projection.ControlSuffix), and has no metadata.
type stream struct {
	key, ts string
	until   time.Time // it is used
	sent    projection.Sent
}

// noStreams are Slack's errors that say that a workspace, or the app in it, has no streams. Others are about
// one thread or one message.
var noStreams = []string{
	"unknown_method", "missing_scope", "not_allowed_token_type", "no_permission", "access_denied", "feature_not_enabled", "not_agent_app",
	"method_deprecated", "deprecated_endpoint", "team_access_not_granted", "enterprise_is_restricted", "method_not_supported_for_channel_type",
}

// over are the errors about a stream that has ended: after five minutes, or because a person has
// stopped it.
var over = []string{"message_not_in_streaming_state", "stopped_by_user", "message_not_found"}

// old is ready when a stream is to end, whatever happens. A nil stream never is.
func (s *stream) old() <-chan time.Time {
	if s == nil {
		return nil
	}
	return time.After(time.Until(s.until))
}

// streams reports whether replies in a thread can be streamed.
func (t *thread) streams() bool {
	team, _ := t.chat.self()
	_, refused := t.chat.unstreamed.Load(team)
	return !refused && !t.plain && t.recipient() != ""
}

func (t *thread) recipient() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.user
}

// live streams what is wanted as a stream, and returns what is left for posts.
func (t *thread) live(ctx context.Context, want []projection.Wanted) ([]projection.Wanted, error) {
	t.kept = ""
	if err := t.adopt(ctx, want); err != nil {
		return nil, err
	}
	if err := t.carryOn(ctx, want); err != nil {
		return nil, err
	}
	for n, w := range want {
		if w.Flow == nil || !w.Flow.Open {
			continue
		}
		streams, err := t.opened(ctx, w)
		if err != nil {
			return nil, err
		}
		if streams {
			want = slices.Clone(want)
			want[n] = w.Flow.Stop
		}
	}
	t.reuse(want)
	return want, nil
}

// opened reports whether a message that grows is streamed, or will be. Its control is there before it.
func (t *thread) opened(ctx context.Context, w projection.Wanted) (bool, error) {
	there := t.posts[w.Key]
	switch {
	case t.stream != nil:
		return t.stream.key == w.Key, nil
	case !t.streams():
		return false, nil
	case there == nil:
	case there.digest != "" || !w.Flow.Empty():
		return false, nil
	case t.again == w.Key: // calls that take long go on in another stream
		if err := t.remove(ctx, w.Key); err != nil {
			return false, err
		}
		t.again = ""
	default: // what an earlier gateway has streamed stays until this one knows the text
		t.kept = w.Key
		return true, nil
	}
	if err := t.put(ctx, w.Flow.Stop, false); err != nil {
		return false, err
	}
	return t.begin(ctx, w)
}

// carryOn appends to the stream what is new, and ends it if nothing follows.
func (t *thread) carryOn(ctx context.Context, want []projection.Wanted) error {
	s := t.stream
	if s == nil {
		return nil
	}
	at := slices.IndexFunc(want, func(w projection.Wanted) bool { return w.Key == s.key })
	if at < 0 {
		return t.cease(ctx, "")
	}
	w := want[at]
	chunks, ok := s.sent.Next(w.Flow, t.told)
	switch {
	case !ok || w.Flow.Open && time.Now().After(s.until):
		return t.cease(ctx, "") // the message is changed instead
	case !w.Flow.Open:
		digest, err := digestOf(w.Message, false)
		if err != nil {
			return err
		}
		return t.cease(ctx, digest, chunks...)
	}
	return t.extend(ctx, chunks)
}

// begin starts the stream of a message, as soon as there is something to show. It reports whether the
// message is streamed, or will be.
func (t *thread) begin(ctx context.Context, w projection.Wanted) (bool, error) {
	s := &stream{key: w.Key, until: time.Now().Add(t.chat.StreamLife)}
	if t.told == nil {
		t.told = projection.Recall(w)
	}
	chunks, _ := s.sent.Next(w.Flow, t.told)
	if len(chunks) == 0 {
		return true, nil
	}
	c := t.chat
	team, _ := c.self()
	c.session(ctx, t.at, slack.AgentSessionStatusProcessing)
	err := c.pace.attempt(ctx, "chat.startStream", t.at.channel, func() (err error) {
		_, s.ts, err = c.api.StartStreamContext(ctx, t.at.channel, slack.MsgOptionTS(t.at.root), slack.MsgOptionRecipientTeamID(team),
			slack.MsgOptionRecipientUserID(t.recipient()), slack.MsgOptionTaskDisplayMode(slack.TaskDisplayModeTimeline), slack.MsgOptionChunks(chunks...))
		return err
	})
	var refused slack.SlackErrorResponse
	switch {
	case err == nil && s.ts != "":
		t.stream = s
		return true, nil
	case err == nil:
		return false, errors.New("start a stream: Slack gives no timestamp")
	case errors.Is(err, errLimited): // this one is not streamed
	case isSlack(err, noStreams...):
		if _, known := c.unstreamed.LoadOrStore(team, true); !known {
			c.Logger.Warn("this workspace of Slack takes no streams; messages are changed instead", "team", team, "error", err)
		}
	case errors.As(err, &refused) && !hopeless(err) && !isSlack(err, "internal_error", "fatal_error", "service_unavailable", "request_timeout"):
		t.plain = true
		c.Logger.Warn("Slack takes no streams in a thread; messages are changed instead", "channel", t.at.channel, "thread", t.at.root, "error", err)
	default:
		return false, fmt.Errorf("start a stream: %w", err)
	}
	c.session(ctx, t.at, slack.AgentSessionStatusActive)
	return false, nil
}

// extend appends to the stream.
func (t *thread) extend(ctx context.Context, chunks []slack.StreamChunk) error {
	if len(chunks) == 0 {
		return nil
	}
	err := t.chat.pace.call(ctx, "chat.appendStream", t.at.session(), func() error {
		_, _, err := t.chat.api.AppendStreamContext(ctx, t.at.channel, t.stream.ts, slack.MsgOptionChunks(chunks...))
		return err
	})
	var refused slack.SlackErrorResponse
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && !hopeless(err):
		return t.cease(ctx, "") // it has ended, or does not take that: the message is changed instead
	}
	return fmt.Errorf("append to a stream: %w", err)
}
