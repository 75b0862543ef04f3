package workflows_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// diskFull is an export that fails while full is set.
type diskFull struct{ full bool }

func (d *diskFull) export(context.Context, contract.ExportInput) (contract.ExportResult, error) {
	if d.full {
		return contract.ExportResult{}, fails(contract.KindExport, "no space left on device")
	}
	return contract.ExportResult{}, nil
}

func TestAnExportThatFailsDelaysTheAnswerOnlyForSeconds(t *testing.T) {
	disk := &diskFull{full: true}
	w := &world{GenerateFn: echo, ExportFn: disk.export}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "echo hello")
		same(t, "attempts", len(read(w, &w.exports)), 3)
		trouble(t, s, "The conversation file could not be written: no space left on device")
		disk.full = false
	})
}

func TestAnExportThatIsOwingIsTriedUntilItWorks(t *testing.T) {
	disk := &diskFull{full: true}
	w := &world{GenerateFn: echo, ExportFn: disk.export}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.sleep(20 * time.Minute)
		tries := len(read(w, &w.exports))
		if tries < 3*5 || tries > 3*8 { // after 0:30, 1:30, 3:30, 7:30, 15:30, …
			t.Errorf("%d attempts in twenty minutes", tries)
		}
		disk.full = false
		s.sleep(11 * time.Minute)
		same(t, "file", lines(w.exported().Transcript.Tail), s.lines())
		written := len(read(w, &w.exports))
		s.sleep(time.Hour)
		same(t, "exports when nothing is owing", len(read(w, &w.exports)), written)
		if d := s.details(contract.ConversationWorkflowID(conversationID)); strings.Contains(d, "Trouble") {
			t.Errorf("old trouble is still shown:\n%s", d)
		}
	})
}

func TestAnExportThatIsOwingIsTriedAlsoWhileAnApprovalWaits(t *testing.T) {
	disk := &diskFull{full: true}
	w := &world{GenerateFn: script(asks(add("x")), says("Added.")), ExportFn: disk.export}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		disk.full = false
		s.sleep(time.Minute)
		same(t, "status of the file", w.exported().Status, contract.StatusWaitingApproval)
		s.approve()
		s.rest()
		same(t, "file", lines(w.exported().Transcript.Tail), s.lines())
	})
}

func TestAnOwingExportDoesNotFillTheHistoryOfAPausedRun(t *testing.T) {
	disk := &diskFull{full: true}
	w := &world{GenerateFn: script(asks(add("x")), says("Added.")), ExportFn: disk.export}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		s.sleep(time.Minute) // the timer that was already running
		tried := len(read(w, &w.exports))
		s.sleep(240 * time.Hour)
		same(t, "exports", len(read(w, &w.exports)), tried)
		s.env.SetCurrentHistoryLength(0)
		disk.full = false
		s.approve()
		s.rest()
		same(t, "file", lines(w.exported().Transcript.Tail), s.lines())
	})
}

func TestALateFailureOfAnOlderExportOwesNothing(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	s := newSession(t, w, contract.ConversationWorkflowID(conversationID))
	newer := make(chan struct{})
	var once sync.Once
	w.ExportFn = func(_ context.Context, in contract.ExportInput) (contract.ExportResult, error) {
		switch in.Conversation.Version {
		case 1: // the approval is announced
			return contract.ExportResult{}, fails(contract.KindExport, "no space left on device")
		case 2: // the loop retries; meanwhile the turn ends
			once.Do(func() { s.decideOn(in.Conversation.Pending[0].UUID, contract.DecideSignal{Approved: true}) })
			<-newer
			return contract.ExportResult{}, fails(contract.KindExport, "no space left on device")
		case 3:
			close(newer)
		}
		return contract.ExportResult{}, nil
	}
	s.run(contract.WorkflowConversation, hello(), func(s *session) {
		s.rest()
		s.sleep(time.Minute)
		same(t, "file", lines(w.exported().Transcript.Tail), s.lines())
		if d := s.details(contract.ConversationWorkflowID(conversationID)); strings.Contains(d, "Trouble") {
			t.Errorf("nothing is wrong any more:\n%s", d)
		}
		s.sleep(time.Hour)
		same(t, "version", s.view().Version, 3) // no export was retried
	}, func() { s.close("", "") })
}

func TestMessagesAreAnsweredWhileAnExportIsOwing(t *testing.T) {
	disk := &diskFull{full: true}
	w := &world{GenerateFn: echo, ExportFn: disk.export}
	converse(t, w, silent(), func(s *session) {
		s.rest()
		s.say("r1", "one")
		s.say("r2", "two")
		s.rest()
		s.rest()
		same(t, "first", s.answer("r1"), "echo one")
		same(t, "second", s.answer("r2"), "echo two")
		disk.full = false
	})
	same(t, "file", w.exported().Status, contract.StatusCompleted)
}

func TestTheFileOfAClosedConversationIsOwedToo(t *testing.T) {
	disk := &diskFull{full: true}
	w := &world{ExportFn: disk.export}
	var caller *awaitCaller
	s := converse(t, w, silent(), func(s *session) {
		s.close("x1", "")
		caller = s.await("x1")
		s.rest()
		s.rest()
		same(t, "released", caller.ids(), []string{"x1"})
		same(t, "over", s.over, false)
		s.say("r1", "too late")
		late := s.await("r1")
		s.rest()
		same(t, "refused", late.result.Settled[0].Refused, contract.KindCompleted)
		disk.full = false
		s.sleep(11 * time.Minute)
		same(t, "over", s.over, true)
	})
	same(t, "status", s.result().Status, contract.StatusCompleted)
	same(t, "file", w.exported().Status, contract.StatusCompleted)
}

func TestAClosedConversationWhoseFileCannotBeWrittenEndsAtLast(t *testing.T) {
	disk := &diskFull{full: true}
	s := converse(t, &world{ExportFn: disk.export}, silent(), func(s *session) {
		s.close("x1", "")
		s.rest()
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		s.sleep(time.Hour)
		same(t, "over", s.over, true)
	})
	same(t, "status", s.result().Status, contract.StatusCompleted)
}

func TestEveryExportHasALaterVersion(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
	})
	var versions []int64
	for _, v := range read(w, &w.exports) {
		versions = append(versions, v.Version)
	}
	same(t, "versions", versions, []int64{1, 2, 3})
}
