package workflows_test

import (
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

func TestAQuickConversationChangesNothingInLists(t *testing.T) {
	s := converse(t, &world{}, hello(), func(s *session) {
		s.rest()
		s.say("r2", "two")
		s.rest()
	})
	same(t, "memos", s.seen.memos, nil)
}

func TestAConversationThatBeganEmptyIsNamedAfterItsFirstMessage(t *testing.T) {
	in := hello()
	in.First = nil
	s := converse(t, &world{}, in, func(s *session) {
		s.rest()
		s.say("r1", "list\nthe resources")
		s.rest()
		s.say("r2", "two")
		s.rest()
	})
	same(t, "changes", len(s.seen.memos), 1)
	same(t, "title", s.seen.memos[0][contract.MemoTitle], any("list the resources"))
}

func TestListsShowTheLastChangeToTheMinute(t *testing.T) {
	var changed []any
	s := converse(t, &world{}, hello(), func(s *session) {
		s.rest()
		for _, pause := range []time.Duration{time.Hour, time.Second, 2 * time.Minute} {
			s.sleep(pause)
			s.say("r"+pause.String(), "more")
			s.rest()
			changed = append(changed, s.messages()[len(s.messages())-2].CreatedAt.Format(time.RFC3339Nano))
		}
	})
	var shown []any
	for _, memo := range s.seen.memos {
		shown = append(shown, memo[contract.MemoUpdatedAt])
	}
	same(t, "changes", shown, []any{changed[0], changed[2]})
}

func TestADecisionIsAChange(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		s.sleep(time.Hour)
		s.approve()
		s.rest()
	})
	same(t, "changes", len(s.seen.memos), 1)
}
