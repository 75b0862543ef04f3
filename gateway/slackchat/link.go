package slackchat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/slack-go/slack"
	"golang.org/x/sync/singleflight"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/session"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// errNotLinked is the error of a user who has not logged in.
var errNotLinked = errors.New("the Slack user is not linked")

// linkEvent is the event type of messages that link their user, or end that. Their metadata have what
// proves who it is, sealed for the workspace and the user, so that every gateway of the agent can
// read it, and nobody else can make or move it.
const linkEvent = "agent_link"

// links are the users who have proved who they are. The newest of the messages about it counts.
type links struct {
	chat   *Chat
	making sync.Mutex // held while a link is made, so that one is used once
	flight singleflight.Group

	mu      sync.Mutex
	known   *lru.Cache[string, linked]
	changed int // how often a user was forgotten
}

// maxKnown bounds the users who are remembered.
const maxKnown = 4096

const (
	// linkedFor is how long a link is not read again. Whether the proof still counts is checked each
	// time.
	linkedFor = time.Minute
	// unlinkedFor is how long a user without a link is not looked for again. The login may be
	// confirmed at another gateway.
	unlinkedFor = 10 * time.Second
)

// linked is what a message about a link says.
type linked struct {
	// Nonce is that of the login link, which is used once.
	Nonce string `json:"nonce,omitempty"`
	// Session has no ID in a message that ends the links before it.
	Session session.Session `json:"session"`
	// Used are the nonces of login links that may still hold, in a message that ends links.
	Used []string `json:"used,omitempty"`

	ts   string
	read time.Time
}

func (in linked) ended() bool { return in.Session.ID == "" }

// uses reports whether a message says that a login link was used.
func (in linked) uses(nonce string) bool { return in.Nonce == nonce || slices.Contains(in.Used, nonce) }

func (l *links) kind(user string) string {
	team, _ := l.chat.self()
	return linkEvent + " " + team + " " + user
}

// identity returns who a user is, or errNotLinked.
func (l *links) identity(ctx context.Context, user string) (contract.Identity, error) {
	if l.chat.Sessions == nil {
		return contract.Identity{}, errNotLinked
	}
	found, err := l.find(ctx, user)
	if err != nil {
		return contract.Identity{}, err
	}
	who, err := l.chat.Sessions.Caller(found.Session)
	var refused *identity.Refused
	if errors.As(err, &refused) { // it has ended, or the key was revoked
		return who, errNotLinked
	}
	return who, err
}

// find returns the link of a user, or errNotLinked. Slack is asked once for all who wait.
func (l *links) find(ctx context.Context, user string) (linked, error) {
	found, ok := l.remembered(user)
	if !ok {
		v, err, _ := l.flight.Do(user, func() (any, error) { return l.look(ctx, user) })
		if err != nil {
			return linked{}, fmt.Errorf("read the direct messages of a Slack user: %w", err)
		}
		found = v.(linked)
	}
	if found.ended() {
		return linked{}, errNotLinked
	}
	return found, nil
}

func (l *links) remembered(user string) (linked, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.known.Get(user)
	lasts := linkedFor
	if found.ended() {
		lasts = unlinkedFor
	}
	return found, ok && l.chat.Now().Sub(found.read) < lasts
}

// look reads the link of a user, and remembers it unless it may have changed meanwhile.
func (l *links) look(ctx context.Context, user string) (found linked, err error) {
	if found, ok := l.remembered(user); ok {
		return found, nil
	}
	l.mu.Lock()
	before := l.changed
	l.mu.Unlock()
	_, all, err := l.read(ctx, user, false)
	if err != nil {
		return found, err
	}
	if len(all) > 0 {
		found = all[len(all)-1]
	}
	found.read = l.chat.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == before {
		l.known.Add(user, found)
	}
	return found, nil
}

func (l *links) forget(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed++
	l.known.Remove(user)
}

// skew is by how much the clocks of Slack and of the gateways may differ.
const skew = time.Minute

// read returns what the direct messages of a user say of links that may still count, oldest first. Of
// two with one nonce, the first counts. Without all, it stops where nothing before can change what the
// newest one says, or which login links were used.
func (l *links) read(ctx context.Context, user string, all bool) (channel string, found []linked, err error) {
	c := l.chat
	_, bot := c.self()
	err = c.pace.call(ctx, "conversations.open", user, func() error {
		dm, _, _, err := c.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{user}})
		if err == nil {
			channel = dm.ID
		}
		return err
	})
	in := slack.GetConversationHistoryParameters{ChannelID: channel, Limit: 200, Oldest: stamp(c.Now().Add(-c.LinkLasts - skew)), IncludeAllMetadata: true}
	for more := true; more && err == nil; more = more && in.Cursor != "" {
		var page *slack.GetConversationHistoryResponse
		err = c.pace.call(ctx, "conversations.history", user, func() (err error) {
			page, err = c.api.GetConversationHistoryContext(ctx, &in)
			return err
		})
		if err != nil {
			break
		}
		for _, m := range page.Messages { // newest first
			if one, ok := l.parse(user, bot, m); ok {
				found = append(found, one)
			}
			more = all || len(found) == 0 || seconds(found[0].ts)-seconds(m.Timestamp) <= int64((inviteLasts+skew)/time.Second)
		}
		in.Cursor = page.ResponseMetaData.NextCursor
	}
	slices.Reverse(found)
	nonces := map[string]bool{}
	found = slices.DeleteFunc(found, func(in linked) bool {
		again := in.Nonce != "" && nonces[in.Nonce]
		nonces[in.Nonce] = true
		return again
	})
	return channel, found, err
}

// stamp returns a time as a timestamp of Slack, and seconds those of a timestamp.
func stamp(t time.Time) string { return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000) }

func seconds(ts string) int64 {
	text, _, _ := strings.Cut(ts, ".")
	n, _ := strconv.ParseInt(text, 10, 64) // 0 is before all
	return n
}

func (l *links) parse(user, bot string, m slack.Message) (in linked, ok bool) {
	if m.User != bot || m.Metadata.EventType != linkEvent {
		return in, false
	}
	sealed, _ := m.Metadata.EventPayload["link"].(string)
	t, err := l.chat.Keyring.Open(l.kind(user), sealed, l.chat.Now())
	if err == nil {
		err = json.Unmarshal([]byte(t.Bearer), &in)
	}
	in.ts = m.Timestamp
	return in, err == nil
}

// post writes a message about a link, which counts until a time.
func (l *links) post(ctx context.Context, user, channel, text string, in linked, until time.Time) error {
	data, err := json.Marshal(in)
	if err != nil {
		return err
	}
	sealed, err := l.chat.Keyring.Seal(l.kind(user), credential.Token{Bearer: string(data), ExpiresAt: until})
	if err != nil {
		return err
	}
	defer l.forget(user)
	return l.chat.pace.call(ctx, "chat.postMessage", user, func() error {
		_, _, err := l.chat.api.PostMessageContext(ctx, channel, slack.MsgOptionText(text, false), slack.MsgOptionMetadata(slack.SlackMetadata{
			EventType: linkEvent, EventPayload: map[string]any{"link": sealed},
		}))
		return err
	})
}

// maxUsed bounds the nonces in a message, whose metadata Slack limits.
const maxUsed = 50

// remove ends the links of a user: a message says so, also to those who still have a login link that
// was used. The messages of the links are deleted as far as Slack lets them.
func (l *links) remove(ctx context.Context, user string) error {
	channel, found, err := l.read(ctx, user, true)
	if err != nil {
		return err
	}
	if len(found) == 0 || found[len(found)-1].ended() {
		return errNotLinked
	}
	now := l.chat.Now()
	var end linked
	for _, in := range found {
		if seconds(in.ts) > now.Add(-inviteLasts-skew).Unix() {
			end.Used = append(append(end.Used, in.Used...), in.Nonce)
		}
	}
	end.Used = slices.DeleteFunc(end.Used, func(nonce string) bool { return nonce == "" })
	end.Used = end.Used[max(0, len(end.Used)-maxUsed):]
	if err := l.post(ctx, user, channel, "You are not linked to an account of this agent any more.", end, now.Add(l.chat.LinkLasts+skew)); err != nil {
		return err
	}
	for _, in := range found {
		if in.ended() {
			continue
		}
		err := l.chat.pace.call(ctx, "chat.delete", user, func() error {
			_, _, err := l.chat.api.DeleteMessageContext(ctx, channel, in.ts)
			return err
		})
		if err != nil {
			l.chat.Logger.Warn("the message of a link that has ended was not deleted", "user", user, "error", err)
		}
	}
	return nil
}
