package slackchat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/session"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/slackchat/mrkdwn"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// describeWithin bounds the time for the name of a user.
const describeWithin = 3 * time.Second

// inviteLasts is how long a login link can be used.
const inviteLasts = 10 * time.Minute

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

// errUsed is the error of a login link that was used.
var errUsed = errors.New("this link was used before")

// keep links a user to who has logged in.
func (l *links) keep(ctx context.Context, in invitation, of session.Session) (contract.Identity, error) {
	l.making.Lock()
	defer l.making.Unlock()
	c := l.chat
	channel, found, err := l.read(ctx, in.User, false)
	if err != nil {
		return contract.Identity{}, err
	}
	if slices.ContainsFunc(found, func(x linked) bool { return x.uses(in.Nonce) }) {
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
	text := fmt.Sprintf("You are %s at this agent, until %s. `/agent unlink`, or deleting this message, ends that.", mrkdwn.Code(who.Subject), ends.UTC().Format(time.RFC1123))
	return who, l.post(ctx, in.User, channel, text, kept, ends)
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
