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

// logs may be written while they are read.
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

// open connects one process.
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

// watch has a place: on a busy machine a watcher may not get one in time, and then
// hears only that something has changed.
func watch(t *testing.T, f *feed.Feed, id string) (news <-chan contract.Event, stop func()) {
	t.Helper()
	eventually(t, "a place to watch from", func() bool {
		news, stop = f.Subscribe(id)
		if f.Late(id) {
			stop()
			return false
		}
		return true
	})
	return news, stop
}
