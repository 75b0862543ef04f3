package slackchat

import (
	"context"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/slackchat/projection"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
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
	for _, status := range []contract.Status{contract.StatusActive, contract.StatusCompleted} {
		if err := c.resumeChanged(ctx, status, resumed, &idle); err != nil {
			return err
		}
	}
	return nil
}

// resumeChanged resumes the threads of the conversations with a status that have changed, until idle is maxResumed.
func (c *Chat) resumeChanged(ctx context.Context, status contract.Status, resumed map[string]bool, idle *int) error {
	for token, n := []byte(nil), 0; n < maxListed; n += listed {
		page, err := c.Service.List(ctx, service.ListQuery{Limit: listed, Token: token, Status: status})
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if *idle >= maxResumed {
				return nil
			}
			if c.Now().Sub(item.UpdatedAt) > recent {
				continue
			}
			before := len(resumed)
			if err := c.resumeOne(ctx, item.ID, item.SessionID, resumed); err != nil {
				return err
			}
			*idle += len(resumed) - before
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

// choose says which turns the thread shows from now on, of a state: the last one, and those in which a gateway has
// streamed when it was killed. The last one of which there are messages is shown too, if they are not what it has
// become: a gateway that streams nothing has left "Working …", and another turn has begun since.
func (t *thread) choose(s *record.State) error {
	t.from = 1
	for _, e := range s.Entries() {
		t.from = max(t.from, e.Turn)
	}
	for key := range t.posts {
		if strings.HasSuffix(key, projection.ControlSuffix) {
			t.from = min(t.from, max(turnOf(key), 1))
		}
	}
	t.former = 0
	for key := range t.posts {
		if n := turnOf(key); n < t.from {
			t.former = max(t.former, n)
		}
	}
	if t.former == 0 {
		return nil
	}
	stale, err := t.stale(t.wanted(s))
	if !stale {
		t.former = 0
	}
	return err
}

// stale reports whether messages of the former turn are not as they are wanted. What somebody has deleted is
// not missed.
func (t *thread) stale(want []projection.Wanted) (bool, error) {
	for key, p := range t.posts {
		if turnOf(key) != t.former || p.lost {
			continue
		}
		n := slices.IndexFunc(want, func(w projection.Wanted) bool { return w.Key == key })
		if n < 0 {
			return true, nil
		}
		digest, err := digestOf(want[n].Message, p.final)
		if err != nil || digest != p.digest {
			return true, err
		}
	}
	return false, nil
}

// wanted returns the messages that the thread is to have of a state.
func (t *thread) wanted(s *record.State) []projection.Wanted {
	if t.former == 0 {
		return projection.Of(s, t.drafts, t.from, t.chat.link)
	}
	return slices.DeleteFunc(projection.Of(s, t.drafts, t.former, t.chat.link), func(w projection.Wanted) bool {
		return turnOf(w.Key) > 0 && !t.shows(w.Key)
	})
}

// shows reports whether a message is of a turn that the thread shows.
func (t *thread) shows(key string) bool {
	n := turnOf(key)
	return n >= t.from || n > 0 && n == t.former
}
