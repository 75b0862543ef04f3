package agentapi

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// What is kept of answers that no stream has taken is bounded in bytes. The newest remain.
func TestKeptAnswersAreBounded(t *testing.T) {
	n := newNotices(time.Now)
	for range 5 {
		n.add("a", session{}, strings.Repeat("x", maxNoticeBytes/4), true)
	}
	n.add("b", session{}, "last", true)
	size := 0
	for _, item := range n.kept {
		size += len(item.text)
	}
	if size > maxNoticeBytes {
		t.Errorf("%d bytes are kept", size)
	}
	s := n.subscribe("b", answered{})
	defer s.close()
	if got, err := s.take(); err != nil || len(got) != 1 || got[0].text != "last" {
		t.Errorf("%v %v", got, err)
	}
}

// So is what is kept for a stream that does not read. It ends, because it has lost something.
func TestAStreamThatDoesNotReadIsBounded(t *testing.T) {
	n := newNotices(time.Now)
	slow, other := n.subscribe("a", answered{}), n.subscribe("b", answered{})
	defer slow.close()
	defer other.close()
	for range 4 {
		n.add("a", session{}, strings.Repeat("x", maxNoticeBytes/4), true)
	}
	if got, err := slow.take(); err != nil || len(got) != 4 {
		t.Fatalf("%d answers, %v", len(got), err)
	}
	for range 50 {
		n.add("a", session{}, strings.Repeat("x", maxNoticeBytes/4), true)
		size := 0
		for _, item := range slow.items {
			size += len(item.text)
		}
		if size > maxNoticeBytes {
			t.Fatalf("%d bytes are kept", size)
		}
	}
	for range 2 {
		if got, err := slow.take(); !errors.Is(err, errUnread) || got != nil {
			t.Errorf("%d answers, %v", len(got), err)
		}
	}
	n.add("b", session{}, "here", true)
	if got, err := other.take(); err != nil || len(got) != 1 {
		t.Errorf("the other one: %v %v", got, err)
	}
}

// A session is fresh for a while, unless something follows its beginning.
func TestSessionsAreFreshForAWhile(t *testing.T) {
	now := time.Now()
	n := newNotices(func() time.Time { return now })
	is := func(want bool) {
		t.Helper()
		if s, ok := n.fresh("a"); ok != want || ok && (s.id != "id" || !s.exists || !s.fresh || s.view.ID != "id") {
			t.Errorf("%v %+v", ok, s)
		}
	}
	is(false)
	n.begin("a", session{id: "id"})
	is(true)
	if _, ok := n.fresh("b"); ok {
		t.Error("another client")
	}
	now = now.Add(keepBegun + 1)
	is(false)
	n.begin("b", session{id: "other"})
	if len(n.begun) != 1 {
		t.Errorf("%d are kept", len(n.begun))
	}
	n.begin("a", session{id: "id"})
	n.goOn("a")
	is(false)
	n.begin("a", session{id: "id"})
	n.add("a", session{}, "answered", true)
	is(false)
	n.begin("a", session{id: "id"}) // a stream that is opened has to say the answer first
	is(false)
}
