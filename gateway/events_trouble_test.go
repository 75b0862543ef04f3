package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

// store is a blob store whose Get a test provides.
type store struct {
	memory
	get func(context.Context, contract.Blob) ([]byte, error)
}

func (s *store) Get(ctx context.Context, b contract.Blob) ([]byte, error) { return s.get(ctx, b) }

func withBlobs(get func(context.Context, contract.Blob) ([]byte, error)) func(*gateway.Deps) {
	return func(d *gateway.Deps) { d.Blobs = &store{get: get} }
}

var far = contract.Text{Blob: &contract.Blob{SHA256: contract.Hash([]byte("far")), Size: 3}}

// store moves the last message to the store.
func (s *script) store() contract.ConversationView {
	return s.write(func(v *contract.ConversationView) { v.Transcript.Tail[len(v.Transcript.Tail)-1].Content = far })
}

func TestASlowStoreDelaysNoPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		gate := make(chan struct{})
		a := newAPI(t, s.backend(), withFeed(f), withBlobs(func(ctx context.Context, _ contract.Blob) ([]byte, error) {
			select {
			case <-gate:
				return []byte("from afar"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}))
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		synctest.Wait()
		m := contract.MessageSignal{Name: "m1", RequestID: otherID, Text: contract.Inline("hi")}
		s.do(func() { s.begin(m) })
		f.publish(contract.Event{Draft: &generation.Draft{ID: "draft-m1"}})
		time.Sleep(time.Second)
		s.do(func() { s.finish(m, "x") })
		now := s.store()
		f.publish(contract.Event{Settled: &now})
		synctest.Wait()
		f.publish(contract.Event{Delta: &generation.Delta{DraftID: "draft-m1", Kind: generation.Text, Text: "from"}})
		synctest.Wait()
		if now := texts(got.events()); strings.Join(now, "|") != "hi|from" {
			t.Errorf("while the store is slow: %q", now)
		}
		close(gate)
		synctest.Wait()
		if now := texts(got.events()); strings.Join(now, "|") != "hi|from afar" {
			t.Errorf("%q", now)
		}
	})
}

func TestALateReadReplacesNoNewerState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		gate := make(chan struct{})
		a := newAPI(t, s.backend(), withFeed(f), withBlobs(func(context.Context, contract.Blob) ([]byte, error) {
			<-gate
			return []byte("from afar"), nil
		}))
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		synctest.Wait()
		s.do(func() { s.answer(contract.MessageSignal{Name: "m1", Text: contract.Inline("hi")}) })
		old := s.store()
		f.publish(contract.Event{Settled: &old})
		synctest.Wait()
		s.write(func(v *contract.ConversationView) { v.Transcript.Tail[1].Content = contract.Inline("near") })
		last := s.write(func(v *contract.ConversationView) { v.Usage.Calls = 7 })
		f.publish(contract.Event{})
		time.Sleep(time.Second)
		synctest.Wait()
		before := got.raw()
		if now := texts(got.events()); strings.Join(now, "|") != "hi|near" {
			t.Errorf("%q", now)
		}
		close(gate)
		synctest.Wait()
		if got.raw() != before {
			t.Error(strings.TrimPrefix(got.raw(), before))
		}
		f.publish(contract.Event{Settled: &last})
		synctest.Wait()
		if got.raw() != before {
			t.Error(strings.TrimPrefix(got.raw(), before))
		}
	})
}

func TestTheNextTurnWaitsForASlowStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		gate := make(chan struct{})
		a := newAPI(t, s.backend(), withFeed(f), withBlobs(func(context.Context, contract.Blob) ([]byte, error) {
			<-gate
			return []byte("from afar"), nil
		}))
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		synctest.Wait()
		s.do(func() { s.answer(contract.MessageSignal{Name: "m1", Text: contract.Inline("one")}) })
		now := s.store()
		f.publish(contract.Event{Settled: &now})
		s.do(func() { s.begin(contract.MessageSignal{Name: "m2", Text: contract.Inline("two")}) })
		f.publish(contract.Event{Draft: &generation.Draft{ID: "draft-m2"}})
		for _, text := range []string{"le", "tters"} {
			f.publish(contract.Event{Delta: &generation.Delta{DraftID: "draft-m2", Kind: generation.Text, Text: text}})
		}
		synctest.Wait()
		close(gate)
		time.Sleep(time.Second)
		synctest.Wait()
		if now := texts(got.events()); strings.Join(now, "|") != "one|from afar|two|letters" {
			t.Errorf("%q", now)
		}
	})
}

func TestAPanicEndsTheStreamsOfItsConversationOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		well := false
		a := newAPI(t, s.backend(), withFeed(f), withBlobs(func(context.Context, contract.Blob) ([]byte, error) {
			if !well {
				panic("a canary")
			}
			return []byte("from afar"), nil
		}))
		defer a.Close()
		got := a.open("GET", eventsPath, "")
		synctest.Wait()
		s.do(func() { s.answer(contract.MessageSignal{Name: "m1", Text: contract.Inline("hi")}) })
		now := s.store()
		f.publish(contract.Event{Settled: &now})
		<-got.done
		a.wantError(500, "internal", a.do("GET", eventsPath, ""))
		if logs := a.logs.String(); !strings.Contains(logs, "a canary") || !strings.Contains(logs, "live/read.go") {
			t.Error(logs)
		}
		well = true
		again := a.open("GET", eventsPath, "")
		synctest.Wait()
		if now := texts(again.events()); strings.Join(now, "|") != "hi|from afar" {
			t.Errorf("%q", now)
		}
	})
}

// brokenFeed is a feed that panics.
type brokenFeed struct{}

func (brokenFeed) Subscribe(string) (<-chan contract.Event, func()) { panic("a canary") }

func TestAPanicInAFollower(t *testing.T) {
	a := newAPI(t, newScript().backend(), func(d *gateway.Deps) { d.Feed = brokenFeed{} })
	for range 2 {
		a.wantError(500, "internal", a.do("GET", eventsPath, ""))
	}
	a.want(200, a.do("GET", "/health", ""))
	if logs := a.logs.String(); !strings.Contains(logs, "a canary") || !strings.Contains(logs, "live/follower.go") {
		t.Error(logs)
	}
}

func TestAFloodOfEventsBeforeAMessageEndsNoStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newScript(), &feed{}
		s.onMessage = s.answer
		b := s.backend()
		var gate chan struct{}
		b.ConversationFn = func(id, request string) (contract.ConversationView, error) {
			if gate != nil && request == "" {
				<-gate
			}
			return s.read(id, request)
		}
		b.SignalFn = func(id, name string, payload any) error {
			f.publish(contract.Event{Draft: &generation.Draft{ID: "one more"}})
			time.Sleep(time.Millisecond)
			return s.signal(id, name, payload)
		}
		a := newAPI(t, b, withFeed(f))
		defer a.Close()
		a.open("GET", eventsPath, "")
		synctest.Wait()
		s.write(func(v *contract.ConversationView) { v.Usage.Calls++ })
		gate = make(chan struct{})
		got := a.open("POST", messages, `{"message":"hi"}`, asEvents)
		synctest.Wait()
		for n := range 400 {
			f.publish(contract.Event{Draft: &generation.Draft{ID: fmt.Sprint("d", n)}})
			f.publish(contract.Event{Delta: &generation.Delta{DraftID: fmt.Sprint("d", n), Kind: generation.Text, Text: "x"}})
			synctest.Wait()
		}
		close(gate)
		if now := texts(got.whole()); strings.Join(now, "|") != "hi|answer to hi" {
			t.Errorf("%q in %s", now, got.raw())
		}
	})
}
