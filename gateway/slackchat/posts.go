package slackchat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/projection"
	"agent-stop-and-go/workflows/contract"
)

// postEvent is the event type of messages that show a part of a conversation. Their metadata say
// which (key), in which form (digest), whether it is the last form (final), and whether Slack has
// not taken that form (refused).
const postEvent = "agent_post"

// post is a message that a thread has.
type post struct {
	ts, digest string
	final      bool // a card that says how its approval has ended
	refused    bool // it has the text of card.Refused instead
	lost       bool // it stays as it is: somebody has deleted it, or Slack takes no change of it
}

// found is what a thread has of a conversation already.
type found struct {
	posts map[string]*post
	left  []string // timestamps of streams that an earlier gateway has left
	user  string   // who has written last
}

// scan finds what a thread has of a conversation already, since a timestamp, "" for all.
func (c *Chat) scan(ctx context.Context, at place, id, since string) (found, error) {
	out := found{posts: map[string]*post{}}
	controlled := false
	for cursor := ""; ; {
		var page []slack.Message
		err := c.pace.call(ctx, "conversations.replies", at.session(), func() (err error) {
			page, _, cursor, err = c.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
				ChannelID: at.channel, Timestamp: at.root, Limit: 200, Cursor: cursor, Oldest: since, IncludeAllMetadata: true,
			})
			return err
		})
		if err != nil {
			return found{}, fmt.Errorf("read the thread: %w", err)
		}
		for _, m := range page {
			controlled = c.recognise(&out, m, id, controlled)
		}
		if cursor == "" {
			return out, nil
		}
	}
}

// recognise adds a message. It reports whether there is a control in the thread, as there was before: only
// then a message of the app without metadata is a stream.
func (c *Chat) recognise(out *found, m slack.Message, id string, controlled bool) bool {
	team, bot := c.self()
	switch {
	case m.User != bot:
		if m.BotID == "" && m.User != "" && (m.Team == "" || m.Team == team) {
			out.user = m.User
		}
		return controlled
	case m.Metadata.EventType == "" && controlled:
		out.left = append(out.left, m.Timestamp)
		return controlled
	case m.Metadata.EventType != postEvent || m.Metadata.EventPayload["conversation"] != id:
		return controlled
	}
	key, _ := m.Metadata.EventPayload["key"].(string)
	digest, _ := m.Metadata.EventPayload["digest"].(string)
	final, _ := m.Metadata.EventPayload["final"].(bool)
	refused, _ := m.Metadata.EventPayload["refused"].(bool)
	if out.posts[key] == nil { // the first one counts
		out.posts[key] = &post{ts: m.Timestamp, digest: digest, final: final, refused: refused}
	}
	return controlled || strings.HasSuffix(key, projection.ControlSuffix)
}

// metadata are those of a post.
func (t *thread) metadata(key string, as post) slack.MsgOption {
	return slack.MsgOptionMetadata(slack.SlackMetadata{EventType: postEvent, EventPayload: map[string]any{
		"conversation": t.id, "key": key, "digest": as.digest, "final": as.final, "refused": as.refused,
	}})
}

// reconcile streams, posts and changes messages until the thread has what is wanted.
func (t *thread) reconcile(ctx context.Context, want []projection.Wanted) error {
	want, err := t.live(ctx, want)
	if err != nil {
		return err
	}
	keys := map[string]bool{}
	for _, w := range want {
		keys[w.Key] = true
		if err := t.put(ctx, w, false); err != nil {
			return err
		}
	}
	for _, key := range t.keys() {
		p := t.posts[key]
		var err error
		switch {
		case keys[key] || p.final || p.lost || key == t.kept:
		case strings.HasPrefix(key, projection.CardKey):
			err = t.end(ctx, strings.TrimPrefix(key, projection.CardKey))
		case t.shows(key) || strings.HasSuffix(key, projection.ControlSuffix): // such as "Working …", when a card took its place
			err = t.remove(ctx, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *thread) keys() []string {
	var out []string
	for key := range t.posts {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

func turnOf(key string) int {
	number, _, _ := strings.Cut(key, ".")
	n, err := strconv.Atoi(number)
	if err != nil {
		return -1
	}
	return n
}

// put posts a message or changes it. Where Slack does not take it, a short text says so; the other
// messages of the thread do not depend on it.
func (t *thread) put(ctx context.Context, w projection.Wanted, final bool) error {
	digest, err := digestOf(w.Message, final)
	if err != nil {
		return err
	}
	if p := t.posts[w.Key]; p != nil && (p.lost || p.digest == digest) {
		return nil
	}
	err = t.write(ctx, w, post{digest: digest, final: final})
	if !isSlack(err, unfit...) {
		return err
	}
	t.chat.Logger.Error("Slack does not take a message; the thread gets a short text instead", "channel", t.at.channel, "thread", t.at.root, "key", w.Key, "error", err)
	link := t.chat.BaseURL
	if uuid, ok := strings.CutPrefix(w.Key, projection.CardKey); ok {
		link = t.chat.link(uuid)
	}
	err = t.write(ctx, projection.Wanted{Key: w.Key, Message: card.Refused(link)}, post{digest: digest, final: final, refused: true})
	if isSlack(err, unfit...) {
		t.posts[w.Key] = &post{digest: digest, final: final, refused: true, lost: true}
		return nil
	}
	return err
}

// unfit are Slack's errors about one message.
var unfit = []string{"invalid_blocks", "invalid_blocks_format", "msg_too_long", "msg_blocks_too_long", "no_text", "metadata_too_large", "invalid_metadata_format", "invalid_metadata_schema"}

// write posts a message or changes the one that is there.
func (t *thread) write(ctx context.Context, w projection.Wanted, as post) error {
	c, p := t.chat, t.posts[w.Key]
	options := []slack.MsgOption{
		slack.MsgOptionText(w.Text, false), slack.MsgOptionBlocks(w.Blocks...), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
		t.metadata(w.Key, as),
	}
	if p == nil {
		err := c.pace.call(ctx, "chat.postMessage", t.at.channel, func() (err error) {
			_, as.ts, err = c.api.PostMessageContext(ctx, t.at.channel, append(options, slack.MsgOptionTS(t.at.root))...)
			return err
		})
		if err != nil {
			return fmt.Errorf("post a message: %w", err)
		}
		t.posts[w.Key] = &as
		return nil
	}
	as.ts = p.ts
	err := c.pace.call(ctx, "chat.update", t.at.channel, func() error {
		_, _, _, err := c.api.UpdateMessageContext(ctx, t.at.channel, p.ts, options...)
		return err
	})
	switch {
	case isSlack(err, "edit_window_closed"): // a setting of the workspace
		t.chat.Logger.Warn("Slack does not let the app change a message any more", "channel", t.at.channel, "thread", t.at.root, "key", w.Key)
		p.lost = true
		return nil
	case isSlack(err, "message_not_found", "cant_update_message"):
		p.lost = true
		return nil
	case isSlack(err, "block_mismatch"): // of some messages that were streamed
		if err := t.remove(ctx, w.Key); err != nil {
			return err
		}
		return t.write(ctx, w, as)
	case err != nil:
		return fmt.Errorf("change a message: %w", err)
	}
	*p = as
	return nil
}

// end changes a card whose approval does not wait any more.
func (t *thread) end(ctx context.Context, uuid string) error {
	view, err := t.chat.Service.Approval(service.ActingItself(ctx), uuid)
	switch {
	case service.IsKind(err, contract.KindNotFound):
		return t.put(ctx, projection.Wanted{Key: projection.CardKey + uuid, Message: card.Gone()}, true)
	case err != nil:
		return err
	case view.Result == nil: // the conversation is ahead of it
		return nil
	}
	return t.put(ctx, projection.Wanted{Key: projection.CardKey + uuid, Message: card.Ended(view.Pending, *view.Result, t.chat.link(uuid))}, true)
}

func (t *thread) remove(ctx context.Context, key string) error {
	err := t.chat.pace.call(ctx, "chat.delete", t.at.channel, func() error {
		_, _, err := t.chat.api.DeleteMessageContext(ctx, t.at.channel, t.posts[key].ts)
		return err
	})
	if err != nil && !isSlack(err, "message_not_found", "cant_delete_message", "compliance_exports_prevent_deletion") {
		return fmt.Errorf("delete a message: %w", err)
	}
	delete(t.posts, key)
	return nil
}

// digestOf is the form of a message.
func digestOf(m card.Message, final bool) (string, error) {
	data, err := json.Marshal([]any{m.Text, m.Blocks, final})
	if err != nil {
		return "", err
	}
	return contract.Hash(data)[:16], nil
}

// isSlack reports whether an error is one of those that Slack names.
func isSlack(err error, names ...string) bool {
	var refused slack.SlackErrorResponse
	return errors.As(err, &refused) && slices.Contains(names, refused.Err)
}

// hopeless reports whether nothing can be posted in a channel, however often it is tried.
func hopeless(err error) bool {
	return isSlack(err, "channel_not_found", "not_in_channel", "is_archived", "thread_not_found", "restricted_action", "missing_scope",
		"account_inactive", "token_revoked", "invalid_auth", "no_permission", "access_denied")
}

// link returns the address of an approval on the page, or "".
func (c *Chat) link(uuid string) string {
	if c.BaseURL == "" {
		return ""
	}
	return c.BaseURL + "/#/a/" + uuid
}
