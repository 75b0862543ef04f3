package live_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
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
	slow     time.Duration // of the next reads
	reads    int
	silent   int // reads from the first that nothing answers
	events   chan contract.Event
}

func (c *talk) Conversation(context.Context, string, string) (contract.ConversationView, error) {
	c.mu.Lock()
	read, slow := c.recorded, c.slow
	c.reads++
	silent := c.reads <= c.silent
	c.mu.Unlock()
	time.Sleep(slow)
	if silent {
		return read, service.Errorf(service.KindUnavailable, "no answer in time")
	}
	return read, nil
}

// set sets what is read from now on, and how long that takes.
func (c *talk) set(v contract.ConversationView, slow time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recorded, c.slow = v, slow
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
				items, _, err := r.Take()
				if err != nil {
					t.Fatal(err)
				}
				if got := textOf(items); got != c.want {
					t.Errorf("got %q, expected %q", got, c.want)
				}
			})
		})
	}
}

// The first reply of a conversation may begin before whoever started it has joined it.
func TestTheBeginningOfTheFirstReplyIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		away time.Duration
		want string
	}{
		"joined soon": {nil, 29 * time.Second, "one two three"},
		"joined late": {nil, 31 * time.Second, ""},
		"not started": {errors.New("refused"), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conversation := &talk{recorded: contract.ConversationView{ID: "c", Version: 1, Status: contract.StatusActive, Running: true}, events: make(chan contract.Event, 8)}
				f, stop := follow(conversation)
				defer func() { stop(); f.Close() }()
				_, err := f.Start(t.Context(), starter(func() error {
					conversation.events <- contract.Event{Draft: &generation.Draft{ID: "d"}}
					conversation.events <- piece("one ")
					synctest.Wait()
					return c.err
				}), service.Caller{}, service.NewConversation{Request: service.Request{ConversationID: "c"}})
				if err != c.err {
					t.Errorf("got the error %v, expected %v", err, c.err)
				}
				if n := conversation.count(); n > 0 {
					t.Errorf("the conversation was read %d times before it had a reader", n)
				}
				if c.err == nil {
					conversation.events <- piece("two ")
				}
				time.Sleep(c.away)
				synctest.Wait()
				r, err := f.Join(t.Context(), "c", true)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Leave(r)
				synctest.Wait()
				if c.want != "" {
					conversation.events <- piece("three")
				}
				synctest.Wait()
				items, _, err := r.Take()
				if err != nil {
					t.Fatal(err)
				}
				if got := textOf(items); got != c.want {
					t.Errorf("got %q, expected %q", got, c.want)
				}
				if !slices.ContainsFunc(items, func(i live.Item) bool { return i.State != nil && i.State.View.Version == 1 }) {
					t.Error("the state was not read")
				}
			})
		})
	}
}

type starter func() error

func (s starter) Start(context.Context, service.Caller, service.NewConversation) (service.StartedConversation, error) {
	return service.StartedConversation{}, s()
}

// A read that began before a turn does not end the reply that has begun since.
func TestAnOldReadDoesNotEndAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conversation := &talk{recorded: contract.ConversationView{ID: "c", Version: 1, Status: contract.StatusActive}, events: make(chan contract.Event, 8)}
		f, stop := follow(conversation)
		defer func() { stop(); f.Close() }()
		r, err := f.Join(t.Context(), "c", false)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Leave(r)
		synctest.Wait()
		conversation.set(contract.ConversationView{ID: "c", Version: 2, Status: contract.StatusActive, Queued: 1}, time.Second)
		r.RequestRead()
		time.Sleep(500 * time.Millisecond) // the read is under way
		conversation.events <- contract.Event{Draft: &generation.Draft{ID: "d"}}
		conversation.events <- piece("one ")
		conversation.set(contract.ConversationView{ID: "c", Version: 3, Status: contract.StatusActive, Running: true}, 0)
		time.Sleep(time.Minute)
		late, err := f.Join(t.Context(), "c", false)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Leave(late)
		synctest.Wait()
		for name, r := range map[string]*live.Reader{"the reader": r, "a later one": late} {
			items, _, err := r.Take()
			if err != nil {
				t.Fatal(err)
			}
			begun := false
			for _, i := range items {
				if begun = begun || i.Draft != nil; begun && i.State != nil && !i.State.View.Running {
					t.Errorf("%s got the state before the turn after its reply had begun", name)
				}
			}
			if got := textOf(items); got != "one " {
				t.Errorf("%s got %q", name, got)
			}
		}
	})
}

func piece(text string) contract.Event {
	return contract.Event{Delta: &generation.Delta{DraftID: "d", Kind: generation.Text, Text: text}}
}

// textOf returns the text of the unfinished reply in items.
func textOf(items []live.Item) (text string) {
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

// A reader that has sent something waits for a busy worker; a reader that only looks gets the error.
func TestTheFirstReadIsTriedAgainForWhoHasSentSomething(t *testing.T) {
	for name, tt := range map[string]struct {
		eager  bool
		silent int
		fails  bool
	}{
		"sent, busy for a while": {true, 2, false},
		"sent, no worker":        {true, 1000, true},
		"looks":                  {false, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &talk{
					recorded: contract.ConversationView{ID: "c", Version: 1, Status: contract.StatusActive},
					slow:     4 * time.Second, silent: tt.silent, events: make(chan contract.Event),
				}
				f, stop := follow(c)
				defer func() { stop(); f.Close() }()
				r, err := f.Join(t.Context(), "c", tt.eager)
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				<-r.Wake()
				items, _, err := r.Take()
				if (err != nil) != tt.fails || !tt.fails && len(items) != 1 {
					t.Errorf("%d items, %v", len(items), err)
				}
				if took := time.Since(begin); took > 20*time.Second {
					t.Errorf("after %s", took)
				}
			})
		})
	}
}
