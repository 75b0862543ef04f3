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
	"agent-stop-and-go/workflows/contract"
)

// postEvent is the event type of messages that show a part of a conversation. Their metadata say
// which (key), in which form (digest), and whether it is the last form (final).
const postEvent = "agent_post"

// post is a message that a thread has.
type post struct {
	ts, digest string
	final      bool // a card that says how its approval has ended
	lost       bool // somebody has deleted it
}

// maxPages bounds the pages of a thread that are read, of 200 messages each.
const maxPages = 20

// scan finds the messages that the thread has already.
func (t *thread) scan(ctx context.Context) error {
	c := t.chat
	_, bot := c.self()
	found := map[string]*post{}
	cursor := ""
	for range maxPages {
		var page []slack.Message
		err := c.pace.call(ctx, t.at.channel, func() (err error) {
			page, _, cursor, err = c.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
				ChannelID: t.at.channel, Timestamp: t.at.root, Limit: 200, Cursor: cursor, IncludeAllMetadata: true,
			})
			return err
		})
		if err != nil {
			return fmt.Errorf("read the thread: %w", err)
		}
		for _, m := range page {
			if m.User != bot || m.Metadata.EventType != postEvent || m.Metadata.EventPayload["conversation"] != t.id {
				continue
			}
			key, _ := m.Metadata.EventPayload["key"].(string)
			digest, _ := m.Metadata.EventPayload["digest"].(string)
			final, _ := m.Metadata.EventPayload["final"].(bool)
			if found[key] == nil { // the first one counts
				found[key] = &post{ts: m.Timestamp, digest: digest, final: final}
			}
		}
		if cursor == "" {
			break
		}
	}
	t.posts = found
	return nil
}

// reconcile posts and changes messages until the thread has what is wanted.
func (t *thread) reconcile(ctx context.Context, want []wanted) error {
	keys := map[string]bool{}
	for _, w := range want {
		keys[w.key] = true
		if err := t.put(ctx, w, false); err != nil {
			return err
		}
	}
	for _, key := range t.keys() {
		p := t.posts[key]
		var err error
		switch {
		case keys[key] || p.final || p.lost:
		case strings.HasPrefix(key, cardKey):
			err = t.end(ctx, strings.TrimPrefix(key, cardKey))
		case turnOf(key) >= t.from: // such as "Working …", when a card took its place
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

// put posts a message or changes it.
func (t *thread) put(ctx context.Context, w wanted, final bool) error {
	digest, err := digestOf(w.Message, final)
	if err != nil {
		return err
	}
	p := t.posts[w.key]
	if p != nil && (p.lost || p.digest == digest) {
		return nil
	}
	c := t.chat
	options := []slack.MsgOption{
		slack.MsgOptionText(w.Text, false), slack.MsgOptionBlocks(w.Blocks...), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: postEvent, EventPayload: map[string]any{
			"conversation": t.id, "key": w.key, "digest": digest, "final": final,
		}}),
	}
	if p == nil {
		var ts string
		err = c.pace.call(ctx, t.at.channel, func() (err error) {
			_, ts, err = c.api.PostMessageContext(ctx, t.at.channel, append(options, slack.MsgOptionTS(t.at.root))...)
			return err
		})
		if err != nil {
			return fmt.Errorf("post a message: %w", err)
		}
		t.posts[w.key] = &post{ts: ts, digest: digest, final: final}
		return nil
	}
	err = c.pace.call(ctx, t.at.channel, func() error {
		_, _, _, err := c.api.UpdateMessageContext(ctx, t.at.channel, p.ts, options...)
		return err
	})
	switch {
	case isSlack(err, "message_not_found", "cant_update_message"):
		p.lost = true
		return nil
	case err != nil:
		return fmt.Errorf("change a message: %w", err)
	}
	p.digest, p.final = digest, final
	return nil
}

// end changes a card whose approval does not wait any more.
func (t *thread) end(ctx context.Context, uuid string) error {
	view, err := t.chat.Service.Approval(service.ActingItself(ctx), uuid)
	switch {
	case service.IsKind(err, contract.KindNotFound):
		return t.put(ctx, wanted{cardKey + uuid, card.Gone()}, true)
	case err != nil:
		return err
	case view.Result == nil: // the conversation is ahead of it
		return nil
	}
	return t.put(ctx, wanted{cardKey + uuid, card.Ended(view.Pending, *view.Result, t.chat.link(uuid))}, true)
}

func (t *thread) remove(ctx context.Context, key string) error {
	err := t.chat.pace.call(ctx, t.at.channel, func() error {
		_, _, err := t.chat.api.DeleteMessageContext(ctx, t.at.channel, t.posts[key].ts)
		return err
	})
	if err != nil && !isSlack(err, "message_not_found") {
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
		"account_inactive", "token_revoked", "invalid_auth", "no_permission", "access_denied", "invalid_blocks", "msg_too_long", "metadata_too_large")
}

// link returns the address of an approval on the page, or "".
func (c *Chat) link(uuid string) string {
	if c.BaseURL == "" {
		return ""
	}
	return c.BaseURL + "/#/a/" + uuid
}
