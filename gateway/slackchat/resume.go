package slackchat

import (
	"context"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const (
	// recent is how long ago a conversation may have changed last whose thread is looked at, although
	// nothing runs or waits in it: a card may show what was decided meanwhile.
	recent = 7 * 24 * time.Hour
	// maxResumed bounds how many of those are looked at, and maxListed how many conversations are
	// listed to find them.
	maxResumed, maxListed, listed = 100, 2000, 100
)

// resume goes on with the threads that an earlier gateway has left, one after the other: those in
// which an approval waits, those in which a turn may run, and those that have changed.
func (c *Chat) resume(ctx context.Context) {
	ctx = service.ActingItself(ctx)
	for ctx.Err() == nil {
		err := c.resumeAll(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		c.Logger.Warn("threads in Slack are not resumed yet; it is tried again", "error", err)
		sleep(ctx, 10*time.Second)
	}
}

func (c *Chat) resumeAll(ctx context.Context) error {
	resumed := map[string]bool{}
	for token, n := []byte(nil), 0; n < maxListed; n += listed {
		page, err := c.Service.Waiting(ctx, service.ListQuery{Limit: listed, Token: token})
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := c.resumeOne(ctx, item.ConversationID, item.SessionID, resumed); err != nil {
				return err
			}
		}
		if token = page.Next; len(token) == 0 {
			break
		}
	}
	idle := 0
	for token, n := []byte(nil), 0; n < maxListed; n += listed {
		page, err := c.Service.List(ctx, service.ListQuery{Limit: listed, Token: token, Status: contract.StatusActive})
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if idle >= maxResumed {
				return nil
			}
			if c.Now().Sub(item.UpdatedAt) > recent {
				continue
			}
			before := len(resumed)
			if err := c.resumeOne(ctx, item.ID, item.SessionID, resumed); err != nil {
				return err
			}
			idle += len(resumed) - before
		}
		if token = page.Next; len(token) == 0 {
			break
		}
	}
	return nil
}

// resumeOne follows a conversation if it is that of a thread. Callers of other front ends can
// claim the session of a thread, but not the ID of its conversation.
func (c *Chat) resumeOne(ctx context.Context, id, session string, resumed map[string]bool) error {
	at, ok := placeOf(session)
	if !ok || resumed[id] {
		return nil
	}
	own, err := c.conversation(ctx, at)
	if err != nil || own != id {
		return err
	}
	resumed[id] = true
	t := c.follow(ctx, at, id, "", false)
	t.wake()
	select {
	case <-t.first:
	case <-time.After(time.Minute):
	case <-ctx.Done():
	}
	return nil
}
