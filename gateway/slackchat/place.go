package slackchat

import (
	"context"
	"regexp"
	"strings"
)

// place is a thread: a channel, and the timestamp of the first message in it.
type place struct{ channel, root string }

// space is the space of names of conversations of threads.
const space = "slack"

// sessionPrefix begins the sessions of conversations of threads.
const sessionPrefix = "slack-"

// session names the thread in lists: slack-CHANNEL-ROOT.
func (p place) session() string { return sessionPrefix + p.channel + "-" + p.root }

var threadSession = regexp.MustCompile(`^slack-([A-Z0-9]+)-([0-9]+\.[0-9]+)$`)

// placeOf returns the thread of a session. Callers of other front ends may claim it too: whether the
// conversation is that of the thread, its ID says.
func placeOf(name string) (place, bool) {
	m := threadSession.FindStringSubmatch(name)
	if m == nil {
		return place{}, false
	}
	return place{m[1], m[2]}, true
}

// String is the place in the metadata of a dialog.
func (p place) String() string { return p.channel + ":" + p.root }

func parsePlace(text string) place {
	channel, root, _ := strings.Cut(text, ":")
	return place{channel, root}
}

// conversation returns the ID of the conversation of a thread.
func (c *Chat) conversation(ctx context.Context, at place) (string, error) {
	team, _ := c.self()
	return c.Service.OwnID(ctx, space, team+" "+at.channel+" "+at.root)
}
