package live_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

// talk is a conversation with a feed. A state is published as an event first and recorded
// later.
type talk struct {
	mu       sync.Mutex
	recorded contract.ConversationView
	reads    int
	events   chan contract.Event
}

func (c *talk) Conversation(context.Context, string, string) (contract.ConversationView, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	return c.recorded, nil
}

func (c *talk) Tree(context.Context, string) (contract.TreeView, error) {
	return contract.TreeView{}, service.Errorf(service.KindUnavailable, "there is none")
}

func (c *talk) Subscribe(string) (<-chan contract.Event, func()) { return c.events, func() {} }

func (c *talk) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reads
}

// publish publishes a change as an event, and records it later.
func (c *talk) publish(version int64, later time.Duration) {
	c.mu.Lock()
	v := c.recorded
	c.mu.Unlock()
	v.Version = version
	c.events <- contract.Event{Settled: &v}
	synctest.Wait()
	time.Sleep(later)
	c.mu.Lock()
	c.recorded = v
	c.mu.Unlock()
}

func follow(c *talk) (*live.Followers, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	return live.New(ctx, live.Options{Conversations: c, Feed: c, Logger: slog.New(slog.DiscardHandler), Pace: live.Pace{Idle: time.Hour, KeepAlive: time.Hour}}), cancel
}

// versions returns the versions of the states that a reader got since the last call.
func versions(t *testing.T, r *live.Reader) (out []int64) {
	t.Helper()
	items, _, err := r.Take()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if i.State != nil {
			out = append(out, i.State.View.Version)
		}
	}
	return out
}

// Readers of both kinds together cause as many reads as one reader: one per change.
func TestAllReadersShareTheReads(t *testing.T) {
	cost := func(early, committed int) (reads int) {
		synctest.Test(t, func(t *testing.T) {
			c := &talk{recorded: contract.ConversationView{ID: "c", Version: 1, Status: contract.StatusActive}, events: make(chan contract.Event)}
			f, stop := follow(c)
			defer func() { stop(); f.Close() }()
			var all []*live.Reader
			join := func(n int, how func(context.Context, string, bool) (*live.Reader, error)) {
				for range n {
					r, err := how(t.Context(), "c", false)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, r)
					synctest.Wait()
				}
			}
			join(early, f.Join)
			join(committed, f.JoinCommitted)
			time.Sleep(time.Minute)
			before := c.count()
			for version := int64(2); version < 12; version++ {
				c.publish(version, 0)
				time.Sleep(time.Minute)
			}
			reads = c.count() - before
			for n, r := range all {
				if got := versions(t, r); len(got) == 0 || got[len(got)-1] != 11 {
					t.Errorf("reader %d got versions %v", n, got)
				}
				f.Leave(r)
			}
		})
		return reads
	}
	if one, both, many := cost(0, 1), cost(1, 1), cost(20, 20); one != 10 || both != 10 || many != 10 {
		t.Errorf("10 changes cost %d reads with one reader, %d with one of each sort, %d with twenty", one, both, many)
	}
}

// Only readers that joined with Join get a state that is not recorded yet.
func TestReadersOfCommittedStatesGetOnlyReadStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &talk{recorded: contract.ConversationView{ID: "c", Version: 1, Status: contract.StatusActive}, events: make(chan contract.Event)}
		f, stop := follow(c)
		defer func() { stop(); f.Close() }()
		early, err := f.Join(t.Context(), "c", false)
		if err != nil {
			t.Fatal(err)
		}
		committed, err := f.JoinCommitted(t.Context(), "c", false)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Leave(early)
		defer f.Leave(committed)
		synctest.Wait()
		if a, b := versions(t, early), versions(t, committed); len(a) != 1 || len(b) != 1 {
			t.Errorf("at first: %v, %v", a, b)
		}
		c.publish(2, time.Minute)
		late, err := f.JoinCommitted(t.Context(), "c", false)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Leave(late)
		if a, b, d := versions(t, early), versions(t, committed), versions(t, late); len(a) == 0 || a[0] != 2 || len(b) > 0 || len(d) != 1 || d[0] != 1 {
			t.Errorf("before it is recorded: %v, %v, %v", a, b, d)
		}
		time.Sleep(time.Minute)
		if b, d := versions(t, committed), versions(t, late); len(b) != 1 || b[0] != 2 || len(d) != 1 || d[0] != 2 {
			t.Errorf("once it is: %v, %v", b, d)
		}
	})
}

// A reader that lost its connection reads on in the middle of a reply, from its beginning.
func TestAReplyIsKeptForAWhileWithoutReaders(t *testing.T) {
	for name, c := range map[string]struct {
		away time.Duration
		want string
	}{
		"a short time": {29 * time.Second, "one two three"},
		"a long time":  {31 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conversation := &talk{recorded: contract.ConversationView{ID: "c", Version: 1, Status: contract.StatusActive, Running: true}, events: make(chan contract.Event, 8)}
				f, stop := follow(conversation)
				defer func() { stop(); f.Close() }()
				for n := range 2 { // the second absence is as long as the first, whatever that left behind
					r, err := f.Join(t.Context(), "c", false)
					if err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					if n == 0 {
						conversation.events <- contract.Event{Draft: &generation.Draft{ID: "d"}}
						conversation.events <- piece("one ")
						synctest.Wait()
					}
					f.Leave(r)
					if n == 0 {
						time.Sleep(20 * time.Second)
						continue
					}
					conversation.events <- piece("two ")
				}
				time.Sleep(c.away)
				synctest.Wait()
				if c.want != "" {
					conversation.events <- piece("three")
				}
				r, err := f.Join(t.Context(), "c", false)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Leave(r)
				synctest.Wait()
				if got := textOf(t, r); got != c.want {
					t.Errorf("got %q, expected %q", got, c.want)
				}
			})
		})
	}
}

func piece(text string) contract.Event {
	return contract.Event{Delta: &generation.Delta{DraftID: "d", Kind: generation.Text, Text: text}}
}

// textOf returns the text of the unfinished reply that a reader got.
func textOf(t *testing.T, r *live.Reader) (text string) {
	t.Helper()
	items, _, err := r.Take()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if i.Delta != nil {
			text += i.Delta.Text
		}
	}
	return text
}

func TestAFollowerWithoutAReplyEndsWithItsLastReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conversation := &talk{recorded: contract.ConversationView{ID: "c", Version: 1, Status: contract.StatusActive}, events: make(chan contract.Event)}
		f, stop := follow(conversation)
		defer func() { stop(); f.Close() }()
		r, err := f.Join(t.Context(), "c", false)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f.Leave(r)
		synctest.Wait()
		select {
		case conversation.events <- contract.Event{}:
			t.Error("it goes on without a reader")
		default:
		}
	})
}
