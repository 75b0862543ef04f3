package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

// turn plays a turn whose reply is published piece by piece, and calls between in the middle.
func (s *script) turn(f *feed, name string, between func()) {
	m := contract.MessageSignal{Name: name, RequestID: otherID, Text: contract.Inline("hi " + name)}
	s.do(func() { s.begin(m) })
	f.publish(contract.Event{Draft: &generation.Draft{ID: "draft-" + name, Attempt: 1}})
	time.Sleep(time.Second)
	for _, piece := range []string{"answer ", "to "} {
		f.publish(contract.Event{Delta: &generation.Delta{DraftID: "draft-" + name, Kind: generation.Text, Text: piece}})
		synctest.Wait()
	}
	between()
	s.do(func() { s.finish(m, "answer to "+name) })
	now := s.view
	f.publish(contract.Event{Settled: &now})
	synctest.Wait()
}

func TestReadersThatJoinedDifferentlyGetTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		var open []*stream
		come := func(headers ...string) {
			open = append(open, a.open("GET", eventsPath, "", headers...))
			synctest.Wait()
		}
		come()
		s.turn(f, "one", func() { come() })
		come()
		id := lastID(open[0].events())
		s.turn(f, "two", func() { come("Last-Event-ID: " + id); come("Last-Event-ID: " + lastID(open[0].events())) })
		come("Last-Event-ID: " + lastID(open[2].events()))
		s.turn(f, "three", func() { come() })
		whole := "hi one|answer to one|hi two|answer to two|hi three|answer to three"
		for n, r := range open {
			got := held(r.events())
			if now := strings.Join(got, "|"); now != whole && (n < 3 || !strings.HasSuffix(whole, now)) {
				t.Errorf("reader %d reads %q", n, now)
			}
			if end := lastID(r.events()); end != lastID(open[0].events()) || !strings.HasSuffix(kinds(r.events()), "RUN_FINISHED") {
				t.Errorf("reader %d ends at %s with %s", n, end, kinds(r.events()))
			}
		}
		first := open[0].events()
		if now := held(first, a.after(lastID(first))); strings.Join(now, "|") != whole {
			t.Errorf("one who comes back reads %q", now)
		}
	})
}

// after reads a stream from a position for a moment.
func (a *api) after(id string) []event {
	r := a.open("GET", eventsPath, "", "Last-Event-ID: "+id)
	synctest.Wait()
	return r.events()
}

func lastID(events []event) (id string) {
	for _, e := range events {
		if e.id != "" {
			id = e.id
		}
	}
	return id
}

// openUntil opens a stream that accepts a number of writes, and more only after free is
// closed.
func (a *api) openUntil(writes int, free chan struct{}) *stream {
	pass := make(chan struct{})
	go func() {
		for range writes {
			pass <- struct{}{}
		}
		<-free
		close(pass)
	}()
	return a.openStuck(pass, "GET", eventsPath, "")
}

func TestASlowReaderOfASharedStreamGetsJoinedPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		free := make(chan struct{})
		slow, quick := a.openUntil(1, free), a.open("GET", eventsPath, "")
		synctest.Wait()
		s.write(func(v *contract.ConversationView) { v.Running = true })
		f.publish(contract.Event{Draft: &generation.Draft{ID: "d"}})
		time.Sleep(time.Second)
		for range 2500 {
			f.publish(contract.Event{Delta: &generation.Delta{DraftID: "d", Kind: generation.Text, Text: `"\<é日 `}})
			synctest.Wait()
		}
		close(free)
		synctest.Wait()
		want := strings.Repeat(`"\<é日 `, 2500)
		for _, r := range []*stream{slow, quick} {
			if now := held(r.events()); len(now) != 1 || now[0] != want {
				t.Errorf("%d texts", len(now))
			}
		}
		if n := strings.Count(kinds(slow.events()), "TEXT_MESSAGE_CONTENT"); n > 10 {
			t.Errorf("%d pieces", n)
		}
		if n := strings.Count(kinds(quick.events()), "TEXT_MESSAGE_CONTENT"); n != 2500 {
			t.Errorf("the quick one reads %d pieces", n)
		}
	})
}

func TestATooSlowReaderOfASharedStreamIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		a := newAPI(t, s.backend(), withFeed(f))
		defer a.Close()
		free := make(chan struct{})
		slow, quick := a.openUntil(1, free), a.open("GET", eventsPath, "")
		synctest.Wait()
		s.write(func(v *contract.ConversationView) { v.Running = true })
		f.publish(contract.Event{})
		time.Sleep(time.Second)
		for n := range 300 {
			name := fmt.Sprint("d", n)
			f.publish(contract.Event{Draft: &generation.Draft{ID: name}})
			f.publish(contract.Event{Delta: &generation.Delta{DraftID: name, Kind: generation.Text, Text: "x"}})
			synctest.Wait()
		}
		close(free)
		<-slow.done
		if e := slow.events(); e[len(e)-1].text("name") != "agent-stop-and-go.reconnect" {
			t.Error(kinds(e))
		}
		if n := strings.Count(kinds(quick.events()), "TEXT_MESSAGE_CONTENT"); n != 300 {
			t.Errorf("the quick one reads %d pieces", n)
		}
	})
}
