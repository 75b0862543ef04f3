package slackchat

import (
	"context"
	"errors"

	"agent-stop-and-go/gateway/service"
)

// unlinkedError says to a user who has not proved who they are how to do so. Its text is mrkdwn.
type unlinkedError struct{ text string }

func (e *unlinkedError) Error() string { return e.text }

// caller returns the caller that a Slack user is, and a context that works for them. Without
// authentication that is the name of the user, which nothing proves; otherwise the person that has
// logged in for the user. It fails with an *unlinkedError.
func (c *Chat) caller(ctx context.Context, user, session string) (context.Context, service.Caller, error) {
	caller := service.Caller{Session: session, OwnSession: true, Subject: user, BaseURL: c.BaseURL}
	if !c.Proven {
		return ctx, caller, nil
	}
	identity, err := c.links.identity(ctx, user)
	if errors.Is(err, errNotLinked) {
		err = c.links.invite(user)
	}
	if err != nil {
		return ctx, caller, err
	}
	identity.Channel = Via
	if c.Take != nil {
		if err := c.Take(ctx, identity); err != nil {
			return ctx, caller, err
		}
	}
	caller.Identity, caller.Subject = identity, identity.Subject
	return service.ActingFor(ctx, identity), caller, nil
}

// unlink forgets who a user is, and says so.
func (c *Chat) unlink(ctx context.Context, user string) string {
	if !c.Proven {
		return "Nobody has to log in to this agent."
	}
	switch err := c.links.remove(ctx, user); {
	case errors.Is(err, errNotLinked):
		return "You are not linked to an account of this agent."
	case err != nil:
		return c.words(service.Errorf(service.KindUnavailable, "the link could not be removed").Because(err))
	}
	return "You are not linked to your account of this agent any more."
}
