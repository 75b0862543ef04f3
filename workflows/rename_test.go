package workflows_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/title"
)

func (s *session) rename(requestID, text string) {
	s.env.SignalWorkflow(title.SignalRename, title.Rename{RequestID: requestID, Title: text, By: "ops"})
}

func TestATitleIsInListsInTheRecordAndInTheFile(t *testing.T) {
	w := &world{}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		s.rename("t1", "Fruit")
		s.rename("t1", "Sent again")
		s.rest()
		same(t, "settled", s.request("t1").Settled, true)
		same(t, "version", w.exported().Version, s.view().Version)
	})
	same(t, "memo", s.seen.memos[0][contract.MemoTitle], any("Fruit"))
	same(t, "memos", len(s.seen.memos), 1)
	got := w.exported().Title
	same(t, "title", got.Text, "Fruit")
	same(t, "by", got.By, "ops")
	same(t, "at", got.At.IsZero(), false)
}

func TestATitleIsGivenWhileAnApprovalWaits(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.rename("t1", "Fruit")
		s.rest()
		same(t, "title", w.exported().Title.Text, "Fruit")
		same(t, "pending", len(s.view().Pending), 1)
		s.approve()
		s.rest()
		same(t, "title", w.exported().Title.Text, "Fruit")
	})
}

func TestATitleThatListsCannotShowIsRefused(t *testing.T) {
	w := &world{}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		for id, text := range map[string]string{"t1": "", "t2": " \t", "t3": "two\nlines", "t4": "a\u202Eb", "t5": strings.Repeat("x", 81)} {
			s.rename(id, text)
			s.rest()
			same(t, "refused "+id, s.request(id).Refused, contract.KindInvalid)
		}
	})
	same(t, "memos", s.seen.memos, nil)
}

func TestManyTitlesAreRefusedBeforeTheyAreSent(t *testing.T) {
	w := &world{}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		for n := range 33 {
			s.rename("t"+string(rune('A'+n)), "Fruit")
		}
		s.rest()
		same(t, "last", s.request("t"+string(rune('A'+32))).Refused, contract.KindBusy)
	})
}

func TestATitleIsCarriedToTheNextRun(t *testing.T) {
	w := &world{}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		s.rename("t1", "Fruit")
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		s.say("r2", "two")
		s.rest()
	})
	in, _ := s.next()
	same(t, "title", in.Carried.Title.Text, "Fruit")
}
