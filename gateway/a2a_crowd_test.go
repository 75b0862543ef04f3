package gateway_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

// Readers of both versions connect at any time, lose their streams together with some events
// at any moment, and resume after the last event they have.
func TestAHundredReadersOfATaskGetEveryEventOnce(t *testing.T) {
	for _, seed := range seeds(t, 3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { readers(t, seed, 100) })
		})
	}
}

func readers(t *testing.T, seed uint64, n int) {
	x := newRandomTask(seed)
	a := x.api(t)
	defer a.Close()
	send := said("m-1", "go", nil)
	send["configuration"] = object{"returnImmediately": true}
	id := a.rpc("SendMessage", send).text("result", "task", "id")
	followers := make([]*follower, n)
	var running sync.WaitGroup
	for i := range followers {
		c := &follower{api: a, Rand: rand.New(rand.NewPCG(seed, uint64(i+2))), v03: i%2 == 0, sends: i%3 == 0, id: id}
		followers[i] = c
		running.Go(func() {
			time.Sleep(time.Duration(c.IntN(2000)) * time.Millisecond)
			c.follow()
		})
	}
	running.Go(x.play)
	running.Wait()
	if left := x.feed.watching(); left > 0 {
		t.Errorf("%d watchers have no readers any more", left)
	}
	judge(t, a, x, followers)
}

func judge(t *testing.T, a *api, x *randomTask, followers []*follower) {
	t.Helper()
	all := map[bool][]taskEvent{}
	for _, v03 := range []bool{false, true} {
		c := &follower{api: a, v03: v03, id: followers[0].id}
		all[v03] = c.all()
		var briefs []string
		for _, e := range all[v03] {
			briefs = append(briefs, e.brief())
		}
		if diff := cmp.Diff(x.want, briefs); diff != "" {
			t.Fatalf("events (-want +got):\n%s", diff)
		}
	}
	late, cuts := 0, 0
	for i, c := range followers {
		if err := c.check(all[c.v03]); err != nil {
			t.Fatalf("reader %d: %v", i, err)
		}
		if cuts += c.cuts; len(c.got) == 0 {
			late++
		}
	}
	if late > len(followers)/2 || cuts < len(followers)/2 { // of some seeds, the task is over early
		t.Errorf("%d readers came too late, streams broke %d times", late, cuts)
	}
	last := all[true][len(all[true])-1].state
	if now := a.rpc("tasks/get", object{"id": followers[0].id}).text("result", "status", "state"); now != last {
		t.Errorf("the task is %s, the streams end with %s", now, last)
	}
}

// watching returns the number of subscriptions to the feed.
func (f *feed) watching() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.channels)
}

// Readers take nothing until the task is over. Then they get everything.
func TestSlowReadersOfATaskHoldNothingUp(t *testing.T) {
	for _, seed := range seeds(t, 2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { slowReaders(t, seed) })
		})
	}
}

func slowReaders(t *testing.T, seed uint64) {
	x := newRandomTask(seed)
	a := x.api(t)
	defer a.Close()
	send := said("m-1", "go", nil)
	send["configuration"] = object{"returnImmediately": true}
	c := &follower{api: a, id: a.rpc("SendMessage", send).text("result", "task", "id")}
	free := make(chan struct{})
	var slow []*stream
	for range 20 {
		slow = append(slow, a.openStuck(free, "POST", "/a2a", `{"jsonrpc":"2.0","id":7,"method":"SubscribeToTask","params":{"id":"`+c.id+`"}}`))
	}
	quick := c.subscribe("")
	synctest.Wait()
	x.feed.publish(contract.Event{Draft: &generation.Draft{ID: "d"}})
	for range 1000 { // drafts are not sent in task streams
		x.feed.publish(contract.Event{Delta: &generation.Delta{DraftID: "d", Kind: generation.Text, Text: "x"}})
		synctest.Wait()
	}
	x.play()
	c.got = nil
	for _, e := range quick.whole() {
		c.got = append(c.got, readTaskEvent(t, e))
	}
	all := c.all()
	if err := c.check(all); err != nil {
		t.Error("the quick one:", err)
	}
	close(free)
	for _, s := range slow {
		c.got = nil
		for _, e := range s.whole() {
			c.got = append(c.got, readTaskEvent(t, e))
		}
		if err := c.check(all); err != nil {
			t.Error("a slow one:", err)
		}
	}
}

// A state that comes with an event is not in the conversation's history yet. A message that
// arrives in between may change the result.
func TestATaskStreamSendsCommittedStatesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newRandomTask(1)
		a := x.api(t)
		defer a.Close()
		send := said("m-1", "go", nil)
		send["configuration"] = object{"returnImmediately": true}
		c := &follower{api: a, id: a.rpc("SendMessage", send).text("result", "task", "id")}
		s := c.subscribe("")
		synctest.Wait()
		x.mu.Lock()
		before := x.view
		x.end("r", "Done.", contract.OutcomeDone)
		done := x.view
		x.view = before
		x.mu.Unlock()
		x.feed.publish(contract.Event{Settled: &done})
		time.Sleep(3 * time.Second)
		x.do(func() { x.end("r", "Cancelled.", contract.OutcomeCancelled) })
		var got []string
		for _, e := range s.whole() {
			got = append(got, readTaskEvent(t, e).brief())
		}
		if diff := cmp.Diff([]string{"working", "canceled Cancelled."}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// Counts the goroutines of a real server.
func TestSubscribersLeaveNoGoroutines(t *testing.T) {
	x := newRandomTask(1)
	a := x.api(t)
	send := said("m-1", "go", nil)
	send["configuration"] = object{"returnImmediately": true}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"SubscribeToTask","params":{"id":%q}}`, a.rpc("SendMessage", send).text("result", "task", "id"))
	server := httptest.NewServer(a)
	defer server.Close()
	before, memory := runtime.NumGoroutine(), used()
	var open []net.Conn
	for range 100 {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		open = append(open, conn)
		if _, err := fmt.Fprintf(conn, "POST /a2a HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 64)); err != nil {
			t.Fatal(err)
		}
	}
	if during := runtime.NumGoroutine(); during < before+100 {
		t.Errorf("%d goroutines before, %d while a hundred subscribe", before, during)
	}
	for _, conn := range open {
		conn.Close()
	}
	for deadline := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > before || x.feed.watching() > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d afterwards, %d watchers", before, runtime.NumGoroutine(), x.feed.watching())
		}
	}
	t.Logf("%d goroutines before and %d afterwards, %d KiB more", before, runtime.NumGoroutine(), (int64(used())-int64(memory))>>10)
}

// All subscribers reconnect at the same time, as after the restart of a gateway. Every read
// would make a worker replay the conversation.
func TestConcurrentSubscribersShareOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := taskScript()
		s.exists = true
		b := s.backend()
		var reads atomic.Int32
		busy := make(chan struct{})
		read := b.ConversationFn
		b.ConversationFn = func(id, requestID string) (contract.ConversationView, error) {
			reads.Add(1)
			<-busy
			return read(id, requestID)
		}
		a := newAPI(t, b)
		defer a.Close()
		var readers []*stream
		for range 100 {
			readers = append(readers, a.open("POST", "/a2a", `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"`+someID+`"}}`))
		}
		synctest.Wait()
		if got := reads.Load(); got != 1 {
			t.Errorf("%d reads at the same time", got)
		}
		close(busy)
		time.Sleep(time.Second)
		if got := reads.Load(); got > 3 { // including the read of the follower
			t.Errorf("%d reads", got)
		}
		for _, r := range readers {
			if len(r.events()) != 1 {
				t.Fatalf("got %s", r.raw())
			}
			r.leave()
			<-r.done
		}
	})
}

func TestAPanicEndsOneSubscriberOnly(t *testing.T) {
	b := taskScript().backend()
	b.ConversationFn = func(string, string) (contract.ConversationView, error) { panic("a view that nobody can read") }
	r := newAPI(t, b).rpc("SubscribeToTask", object{"id": someID})
	if code(r) != -32603.0 || strings.Contains(r.raw, "nobody") {
		t.Error(r.raw)
	}
}
