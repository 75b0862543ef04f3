package feed_test

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"

	"agent-stop-and-go/config/feed"
	"agent-stop-and-go/config/feed/feedtest"
	"agent-stop-and-go/workflows/contract"
)

const password = "c4n4ry"

// logs may be written and read concurrently.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// open opens the feed of one process.
func open(t *testing.T, s *feedtest.Server) (*feed.Feed, *logs) {
	t.Helper()
	l := &logs{}
	f, err := feed.Open(feed.Options{Redis: s.URL(), Logger: slog.New(slog.NewTextHandler(l, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, l
}

func ready(t *testing.T, feeds ...*feed.Feed) {
	t.Helper()
	for _, f := range feeds {
		eventually(t, "the feed is ready", func() bool { return f.State().Ready })
	}
}

// subscribe returns a subscription that is ready. On a busy machine Subscribe may return
// before that.
func subscribe(t *testing.T, f *feed.Feed, id string) (events <-chan contract.Event, stop func()) {
	t.Helper()
	eventually(t, "the subscription is ready", func() bool {
		events, stop = f.Subscribe(id)
		if f.Late(id) {
			stop()
			return false
		}
		return true
	})
	return events, stop
}
