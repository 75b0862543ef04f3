package gateway_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

func withFeed(f *feed) func(*gateway.Deps) { return func(d *gateway.Deps) { d.Feed = f } }

func (s *script) counts() (reads, trees int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads, s.trees
}

func TestReadersShareReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		var readers []*stream
		for range 10 {
			readers = append(readers, a.open("GET", eventsPath, ""))
			synctest.Wait()
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if reads, trees := s.counts(); reads > 7 || trees > 1 || f.watched != 1 {
			t.Errorf("%d reads, %d trees, watched %d", reads, trees, f.watched)
		}
		s.write(func(v *contract.ConversationView) { v.Running = true })
		f.publish(contract.Event{})
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		before, _ := s.counts()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if reads, _ := s.counts(); reads-before < 9 || reads-before > 11 {
			t.Errorf("%d reads of what runs in 10 seconds", reads-before)
		}
		for _, r := range readers {
			r.leave()
			<-r.done
		}
		before, _ = s.counts()
		time.Sleep(time.Minute)
		synctest.Wait()
		if reads, _ := s.counts(); reads != before || len(f.channels) != 0 {
			t.Error("nobody reads, and the conversation is read")
		}
	})
}

func TestABurstOfEventsIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		a.open("GET", eventsPath, "")
		time.Sleep(time.Second)
		synctest.Wait()
		before, _ := s.counts()
		for range 100 {
			f.publish(contract.Event{})
			time.Sleep(3 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if reads, _ := s.counts(); reads-before < 2 || reads-before > 4 {
			t.Errorf("%d reads for 100 events in 300 ms", reads-before)
		}
	})
}

func TestLostEventsAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		time.Sleep(time.Second)
		s.do(func() { s.answer(contract.MessageSignal{Name: "m1", Text: contract.Inline("hi")}) })
		f.lose()
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		if now := texts(got.events()); strings.Join(now, "|") != "hi|answer to hi" || f.watched != 2 {
			t.Errorf("%q, watched %d", now, f.watched)
		}
		for range 1000 { // the feed is down
			f.lose()
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		if f.watched > 10 {
			t.Errorf("watched %d times in a second", f.watched)
		}
	})
}

func TestOldEventsAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		old := s.view
		s.do(func() { s.answer(contract.MessageSignal{Name: "m1", Text: contract.Inline("hi")}) })
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		synctest.Wait()
		before := got.raw()
		f.publish(contract.Event{Settled: &old})
		synctest.Wait()
		if got.raw() != before {
			t.Error(got.raw())
		}
	})
}

func TestAFailedReadIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		a := newAPI(t, s.backend())
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		synctest.Wait()
		s.do(func() { s.readErr = errUnexpected })
		time.Sleep(20 * time.Second)
		s.do(func() { s.readErr = nil; s.answer(contract.MessageSignal{Name: "m1", Text: contract.Inline("hi")}) })
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if now := texts(got.events()); strings.Join(now, "|") != "hi|answer to hi" {
			t.Errorf("%q", now)
		}
		s.do(func() { s.readErr = service.Errorf(contract.KindNotFound, "gone") })
		time.Sleep(5 * time.Second)
		<-got.done
	})
}

func TestASlowReaderBlocksNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		free := make(chan struct{})
		s.write(func(v *contract.ConversationView) { v.Running = true }) // so that a stream that breaks off says so
		slow := a.openStuck(free, "GET", eventsPath, "")
		quick := a.open("GET", eventsPath, "")
		f.publish(contract.Event{})
		time.Sleep(time.Second)
		for n := range 1000 {
			name := fmt.Sprintf("d%d", n)
			f.publish(contract.Event{Draft: &generation.Draft{ID: name}})
			f.publish(contract.Event{Delta: &generation.Delta{DraftID: name, Kind: generation.Text, Text: "x"}})
			synctest.Wait()
		}
		if n := strings.Count(kinds(quick.events()), "TEXT_MESSAGE_CONTENT"); n != 1000 {
			t.Errorf("the quick one read %d", n)
		}
		close(free)
		<-slow.done
		e := slow.events()
		if last := e[len(e)-1]; last.text("name") != "agent-stop-and-go.reconnect" {
			t.Error(last)
		}
		select {
		case <-quick.done:
			t.Error("the quick one was ended too")
		default:
		}
	})
}

func TestDeltasOfASlowReaderAreJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		s.write(func(v *contract.ConversationView) { v.Running = true })
		free := make(chan struct{})
		slow := a.openStuck(free, "GET", eventsPath, "")
		synctest.Wait()
		f.publish(contract.Event{Draft: &generation.Draft{ID: "d"}})
		for range 5000 {
			f.publish(contract.Event{Delta: &generation.Delta{DraftID: "d", Kind: generation.Text, Text: "12345678"}})
			synctest.Wait()
		}
		close(free)
		synctest.Wait()
		if now := texts(slow.events()); len(now) != 1 || len(now[0]) != 40000 {
			t.Errorf("%d texts", len(now))
		}
		if n := strings.Count(kinds(slow.events()), "TEXT_MESSAGE_CONTENT"); n > 10 {
			t.Errorf("%d pieces", n)
		}
	})
}

func TestTheTreeOfACompositeAgentIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		tree := treeOf(someID)
		s.tree = &tree
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := strings.Count(got.raw(), `"name":"polish"`); n != 1 {
			t.Errorf("an unchanged tree was sent %d times", n)
		}
		if _, trees := s.counts(); trees < 2 {
			t.Errorf("%d trees read", trees)
		}
		next := treeOf(someID)
		next.State.Nodes[0].Output = contract.Inline("better")
		view := s.write(func(v *contract.ConversationView) { v.Running = true })
		_, before := s.counts()
		f.publish(contract.Event{Settled: &view, Tree: &next})
		synctest.Wait()
		if _, trees := s.counts(); trees != before || !strings.Contains(got.raw(), "better") {
			t.Errorf("read %d trees: %s", trees-before, got.raw())
		}
	})
}

func TestOldWorkersKnowNoTrees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		b := s.backend()
		b.TreeFn = func(string) (contract.TreeView, error) {
			return contract.TreeView{}, service.Errorf(service.KindUnavailable, "old")
		}
		a := newAPI(t, b)
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		synctest.Wait()
		if kinds(got.events()) != "RUN_STARTED STATE_SNAPSHOT RUN_FINISHED" {
			t.Error(kinds(got.events()))
		}
	})
}

func TestReadersLeaveNoGoroutines(t *testing.T) { // synctest fails on goroutines that are left
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		s.onMessage = s.answer
		a := newAPI(t, s.backend(), withFeed(&feed{}))
		var streams []*stream
		for range 20 {
			streams = append(streams, a.open("GET", eventsPath, ""), a.open("POST", messages, `{"message":"m"}`, asEvents))
		}
		synctest.Wait()
		for _, r := range streams {
			r.leave()
			<-r.done
		}
		a.Close()
	})
}

// The server's read timeout ends no stream.
func TestAServerWithItsLimits(t *testing.T) {
	a := newAPI(t, newScript().backend(), func(d *gateway.Deps) { d.Pace.KeepAlive = 20 * time.Millisecond })
	server := httptest.NewUnstartedServer(a)
	server.Config = gateway.NewServer(a)
	server.Config.ReadTimeout = 50 * time.Millisecond
	server.Start()
	defer server.Close()
	defer a.Close()
	res, err := http.Get(server.URL + eventsPath)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	buf, seen := make([]byte, 4096), ""
	for strings.Count(seen, "keep-alive") < 10 {
		n, err := res.Body.Read(buf)
		if seen += string(buf[:n]); err != nil {
			t.Fatalf("%v after %q", err, seen)
		}
	}
}

func TestAThousandReadersAreCheap(t *testing.T) {
	s := newScript()
	for n := range 50 {
		s.do(func() {
			s.answer(contract.MessageSignal{Name: fmt.Sprint(n), Text: contract.Inline(strings.Repeat("x", 1000))})
		})
	}
	a := newAPI(t, s.backend(), func(d *gateway.Deps) { d.Pace.KeepAlive = time.Hour })
	server := httptest.NewServer(a)
	defer server.Close()
	defer a.Close()
	before, routines := used(), runtime.NumGoroutine()
	for range 1000 {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", eventsPath); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 64)); err != nil {
			t.Fatal(err)
		}
	}
	mib := float64(int64(used())-int64(before)) / (1 << 20)
	t.Logf("1,000 readers: %.1f MiB, %d goroutines", mib, runtime.NumGoroutine()-routines)
	if mib > 100 {
		t.Errorf("1,000 readers take %.1f MiB", mib)
	}
}

// used returns the memory in use, stacks included.
func used() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
