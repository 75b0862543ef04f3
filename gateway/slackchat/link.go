package slackchat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/slack-go/slack"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/session"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/slackchat/mrkdwn"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// errNotLinked is the error of a user who has not logged in.
var errNotLinked = errors.New("the Slack user is not linked")

// linkEvent is the event type of messages that link their user. Their metadata have what
// proves who it is, sealed for the workspace and the user, so that every gateway of the agent can
// read it, and nobody else can make or move it.
const linkEvent = "agent_link"

// describeWithin bounds the time for the name of a user.
const describeWithin = 3 * time.Second

// inviteLasts is how long a login link can be used.
const inviteLasts = 10 * time.Minute

// links are the users of whom is known who they are.
type links struct {
	chat *Chat

	mu    sync.Mutex // held while a link is made, so that one is used once
	lock  sync.Mutex // of known
	known map[string]linked
}

// linked is what a message that links says.
type linked struct {
	// Nonce is that of the login link, which is used once.
	Nonce   string          `json:"nonce"`
	Session session.Session `json:"session"`

	read    time.Time
	channel string
	ts      []string
}

// remembered is how long a link is not read again. Whether the proof still counts is checked each
// time.
const remembered = time.Minute

// invitation is what a login link is for.
type invitation struct {
	User  string `json:"user"`
	Nonce string `json:"nonce"`
}

const invitationKind = "slack_invitation"

// invite returns the error that invites a user to log in.
func (l *links) invite(user string) error {
	c := l.chat
	team, _ := c.self()
	if c.Sessions == nil || c.Keyring == nil || c.BaseURL == "" {
		return service.Errorf(contract.KindForbidden, "this agent wants to know who you are, and nobody can log in to it with a browser: auth needs keys or a client_id")
	}
	in, err := json.Marshal(invitation{user, uuid.NewString()})
	if err != nil {
		return err
	}
	sealed, err := c.Keyring.Seal(invitationKind+" "+team, credential.Token{Bearer: string(in), ExpiresAt: c.Now().Add(inviteLasts)})
	if err != nil {
		return err
	}
	return &unlinkedError{fmt.Sprintf("This agent must know who you are, and nothing was sent. <%s%s?invitation=%s|Log in>, and then send it again. The link is for you alone, holds for ten minutes and can be used once.",
		mrkdwn.Escape(c.BaseURL), Path, url.QueryEscape(sealed))}
}

// open returns what a login link is for, if it still holds.
func (l *links) open(sealed string) (invitation, error) {
	var in invitation
	team, _ := l.chat.self()
	t, err := l.chat.Keyring.Open(invitationKind+" "+team, sealed, l.chat.Now())
	if err == nil {
		err = json.Unmarshal([]byte(t.Bearer), &in)
	}
	return in, err
}

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

// find returns the link of a user.
func (l *links) find(ctx context.Context, user string) (linked, error) {
	l.lock.Lock()
	found, ok := l.known[user]
	l.lock.Unlock()
	if ok && l.chat.Now().Sub(found.read) < remembered {
		return found, nil
	}
	channel, all, err := l.read(ctx, user)
	if err != nil {
		return linked{}, fmt.Errorf("read the direct messages of a Slack user: %w", err)
	}
	if len(all) == 0 {
		l.forget(user)
		return linked{}, errNotLinked
	}
	found = all[len(all)-1]
	found.channel, found.read = channel, l.chat.Now()
	l.lock.Lock()
	defer l.lock.Unlock()
	l.known[user] = found
	return found, nil
}

func (l *links) forget(user string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	delete(l.known, user)
}

// read returns the links in the direct messages of a user, oldest first. Of two with one nonce, the
// first counts.
func (l *links) read(ctx context.Context, user string) (channel string, all []linked, err error) {
	c := l.chat
	_, bot := c.self()
	err = c.pace.call(ctx, user, func() error {
		dm, _, _, err := c.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{user}})
		if err == nil {
			channel = dm.ID
		}
		return err
	})
	for cursor := ""; err == nil; {
		var page *slack.GetConversationHistoryResponse
		err = c.pace.call(ctx, user, func() error {
			page, err = c.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{ChannelID: channel, Limit: 200, Cursor: cursor, IncludeAllMetadata: true})
			return err
		})
		if err != nil {
			break
		}
		for _, m := range page.Messages { // newest first
			if in, ok := l.parse(user, bot, m); ok {
				all = append(all, in)
			}
		}
		if cursor = page.ResponseMetaData.NextCursor; cursor == "" || len(all) > 0 {
			break
		}
	}
	slices.Reverse(all)
	nonces := map[string]bool{}
	all = slices.DeleteFunc(all, func(in linked) bool {
		again := nonces[in.Nonce]
		nonces[in.Nonce] = true
		return again
	})
	return channel, all, err
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
	in.ts = []string{m.Timestamp}
	return in, err == nil
}

// errUsed is the error of a login link that was used.
var errUsed = errors.New("this link was used before")

// keep links a user to who has logged in.
func (l *links) keep(ctx context.Context, in invitation, of session.Session) (contract.Identity, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat
	channel, all, err := l.read(ctx, in.User)
	if err != nil {
		return contract.Identity{}, err
	}
	if slices.ContainsFunc(all, func(x linked) bool { return x.Nonce == in.Nonce }) {
		return contract.Identity{}, errUsed
	}
	ends := c.Now().Add(c.LinkLasts)
	kept := linked{Nonce: in.Nonce, Session: session.Session{
		ID: uuid.NewString(), Issuer: of.Issuer, Client: of.Client, Key: of.Key, Proof: of.Proof, FreshUntil: ends, Ends: ends,
	}}
	who, err := c.Sessions.Caller(kept.Session)
	if err == nil {
		err = identity.Check(who)
	}
	if err != nil {
		return who, err
	}
	data, err := json.Marshal(kept)
	if err != nil {
		return who, err
	}
	sealed, err := c.Keyring.Seal(l.kind(in.User), credential.Token{Bearer: string(data), ExpiresAt: ends})
	if err != nil {
		return who, err
	}
	text := fmt.Sprintf("You are %s at this agent, until %s. `/agent unlink`, or deleting this message, ends that.", mrkdwn.Code(who.Subject), ends.UTC().Format(time.RFC1123))
	err = c.pace.call(ctx, in.User, func() error {
		_, _, err := c.api.PostMessageContext(ctx, channel, slack.MsgOptionText(text, false), slack.MsgOptionMetadata(slack.SlackMetadata{
			EventType: linkEvent, EventPayload: map[string]any{"link": sealed},
		}))
		return err
	})
	l.forget(in.User)
	return who, err
}

// remove deletes the links of a user.
func (l *links) remove(ctx context.Context, user string) error {
	channel, all, err := l.read(ctx, user)
	if err == nil && len(all) == 0 {
		return errNotLinked
	}
	l.forget(user)
	for _, in := range all {
		for _, ts := range in.ts {
			err = errors.Join(err, l.chat.pace.call(ctx, user, func() error {
				_, _, err := l.chat.api.DeleteMessageContext(ctx, channel, ts)
				return err
			}))
		}
	}
	return err
}

// describe returns a user as the page shows it: names are anybody's choice, the ID is not.
func (l *links) describe(ctx context.Context, user string) string {
	ctx, cancel := context.WithTimeout(ctx, describeWithin)
	defer cancel()
	info, err := l.chat.api.GetUserInfoContext(ctx, user)
	team, _ := l.chat.self()
	if err != nil || info.Name == "" {
		return fmt.Sprintf("%s of the workspace %s", user, team)
	}
	return fmt.Sprintf("@%s (%s, %s) of the workspace %s", info.Name, info.RealName, user, team)
}
