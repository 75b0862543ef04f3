package feed_test

import (
	"runtime"
	"strings"
	"testing"

	"agent-stop-and-go/config/feed"
	"agent-stop-and-go/config/feed/feedtest"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

const stream = "agent-stop-and-go:news:a"

func TestTwoProcessesExchangeEvents(t *testing.T) {
	s := feedtest.NewServer(t, password)
	worker, _ := open(t, s)
	gateway, _ := open(t, s)
	ready(t, worker, gateway)
	one, stop := subscribe(t, gateway, "a")
	other, _ := subscribe(t, worker, "a")
	for i := range 300 {
		worker.Publish(piece("a", i))
		worker.Publish(piece("b", i))
	}
	wantPieces(t, one, "a", 0, 300)
	wantPieces(t, other, "a", 0, 300)
	gateway.Publish(contract.Event{ConversationID: "a", Settled: &contract.ConversationView{ID: "a"}, Tree: &contract.TreeView{}})
	if n, ok := take(t, one); !ok || n != changed("a") {
		t.Errorf("a view came as %+v", n)
	}
	stop()
	stop()
	wantLost(t, one)
}

func TestANewSubscriberGetsNoOldEvents(t *testing.T) {
	s := feedtest.NewServer(t, password)
	f, _ := open(t, s)
	ready(t, f)
	first, stop := subscribe(t, f, "a")
	f.Publish(piece("a", 0))
	wantPieces(t, first, "a", 0, 1)
	stop()
	second, _ := subscribe(t, f, "a")
	f.Publish(piece("a", 1))
	wantPieces(t, second, "a", 1, 2)
}

func TestTextsThatQueueUpAreJoined(t *testing.T) {
	s := feedtest.NewServer(t, password)
	f, _ := open(t, s)
	ready(t, f)
	events, _ := subscribe(t, f, "a")
	var want, got strings.Builder
	for i := range 3000 {
		text := string(rune('a' + i%26))
		want.WriteString(text)
		f.Publish(contract.Event{ConversationID: "a", Delta: &generation.Delta{DraftID: "d", Kind: generation.Text, Text: text}})
	}
	count := 0
	for got.Len() < want.Len() {
		n, ok := take(t, events)
		if !ok {
			t.Fatal("lost")
		}
		got.WriteString(n.Delta.Text)
		count++
	}
	if got.String() != want.String() || count > 1000 {
		t.Errorf("%d entries; the same text: %v", count, got.String() == want.String())
	}
}

func TestAStreamIsShortAndExpires(t *testing.T) {
	s := feedtest.NewServer(t, password)
	f, _ := open(t, s)
	ready(t, f)
	events, _ := subscribe(t, f, "a")
	for i := range 3000 {
		f.Publish(piece("a", i))
		if i%500 == 499 {
			wantPieces(t, events, "a", i-499, i+1)
		}
	}
	if n := s.XLen(t.Context(), stream).Val(); n < feed.MaxLen || n > 2*feed.MaxLen {
		t.Errorf("%d entries are kept", n)
	}
	if ttl := s.TTL(t.Context(), stream).Val(); ttl <= 0 || ttl > feed.Expiry {
		t.Errorf("expires in %s", ttl)
	}
}

func TestAnUnreadableEntryIsALoss(t *testing.T) {
	s := feedtest.NewServer(t, password)
	f, _ := open(t, s)
	ready(t, f)
	events, _ := subscribe(t, f, "a")
	if err := s.Do(t.Context(), "XADD", stream, "*", "news", "{").Err(); err != nil {
		t.Fatal(err)
	}
	wantLost(t, events)
}

func TestAnOutageIsReportedAndLoggedOnce(t *testing.T) {
	s := feedtest.NewServer(t, password)
	f, log := open(t, s)
	ready(t, f)
	events, _ := subscribe(t, f, "a")
	s.Kill()
	wantLost(t, events)
	eventually(t, "the outage is noticed", func() bool { return !f.State().Ready })
	meanwhile, _ := f.Subscribe("a")
	for i := range 20_000 {
		f.Publish(piece("a", i))
	}
	eventually(t, "writing fails, too", f.WritingFails) // otherwise it would fail once more after the outage
	if p := f.State().Problem; !strings.HasPrefix(p, "Redis: ") || strings.Contains(p, password) || strings.Contains(p, "127.") {
		t.Errorf("problem %q", p)
	}
	s.Start()
	ready(t, f)
	if n, ok := take(t, meanwhile); ok && n != changed("a") {
		t.Errorf("after the outage: %+v", n)
	}
	awaitDelivery(t, f)
	text := log.String()
	if strings.Count(text, "level=WARN") != 1 || strings.Count(text, "level=INFO") != 1 || strings.Contains(text, password) {
		t.Errorf("log:\n%s", text)
	}
}

// awaitDelivery publishes until an event arrives.
func awaitDelivery(t *testing.T, f *feed.Feed) {
	t.Helper()
	events, stop := f.Subscribe("z")
	defer func() { stop() }()
	eventually(t, "events are carried", func() bool {
		f.Publish(contract.Event{ConversationID: "z", Draft: &generation.Draft{ID: "d"}})
		select {
		case n, ok := <-events:
			if !ok {
				events, stop = f.Subscribe("z")
			}
			return n.Draft != nil
		default:
			return false
		}
	})
}

func TestAnUnreachableServerBlocksNobody(t *testing.T) {
	before := runtime.NumGoroutine()
	f, err := feed.Open(feed.Options{Redis: "redis://:" + password + "@127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		f.Publish(piece("a", i))
	}
	events, _ := f.Subscribe("a")
	wantSilence(t, events)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wantLost(t, events)
	eventually(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

func TestAWrongPasswordIsNotShown(t *testing.T) {
	s := feedtest.NewServer(t, password)
	wrong := strings.Replace(s.URL(), password, "wr0ng", 1)
	f, err := feed.Open(feed.Options{Redis: wrong})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	eventually(t, "the refusal is known", func() bool { return strings.Contains(f.State().Problem, "WRONGPASS") })
	if strings.Contains(f.State().Problem, "wr0ng") {
		t.Error(f.State().Problem)
	}
	if _, err := feed.Open(feed.Options{Redis: "redis://:" + password + "@%zz"}); err == nil || strings.Contains(err.Error(), password) {
		t.Errorf("a bad URL: %v", err)
	}
}
