package workflows_test

import (
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// failingWebhook fails until up is set.
type failingWebhook struct{ up bool }

func (u *failingWebhook) notify(in contract.NotifyInput) (contract.NotifyResult, error) {
	if in.Config.ID == "dead" && !u.up {
		return contract.NotifyResult{}, fails(contract.KindPushUnavailable, "the webhook was not reached")
	}
	return contract.NotifyResult{Status: 200}, nil
}

func TestADeadWebhookDelaysNoOther(t *testing.T) {
	hook := &failingWebhook{}
	w := &world{NotifyFn: hook.notify}
	runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("dead", "good")
		for _, state := range states(working, needsInput) {
			s.publishState(state)
			s.rest()
		}
		same(t, "good", w.statesSentTo("good"), states(working, needsInput))
		hook.up = true
		s.sleep(10 * time.Minute)
		all := w.statesSentTo("dead")
		same(t, "the last it was told", all[len(all)-1], needsInput)
		s.publishState(working)
		s.rest()
		same(t, "after it came back", w.statesSentTo("dead")[len(all):], states(working))
	})
	ids := map[contract.TaskState]string{}
	for _, in := range read(w, &w.called) {
		if id, again := ids[in.State.State]; in.Config.ID == "dead" && in.State.State == needsInput && again && id != in.ID {
			t.Error("an attempt has an ID of its own")
		}
		if in.Config.ID == "dead" {
			ids[in.State.State] = in.ID
		}
	}
}

func TestNewerStatesSupersedeButTheFinalOneIsTold(t *testing.T) {
	w := &world{NotifyFn: func(in contract.NotifyInput) (contract.NotifyResult, error) {
		if in.State.State == working || in.State.State == completed {
			return contract.NotifyResult{}, held
		}
		return contract.NotifyResult{Status: 200}, nil
	}}
	runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("a")
		s.publishState(working)
		s.rest()
		s.publishState(submitted, needsInput)
		s.rest()
		same(t, "superseded", w.statesSentTo("a"), states(working, needsInput))
		s.publishState(completed)
		s.rest()
		s.publishState(contract.TaskFailed) // only to have a final state
		s.rest()
		same(t, "waits its turn", w.statesSentTo("a"), states(working, needsInput, completed))
		s.release("notify a", contract.NotifyResult{Status: 200}, nil)
		s.rest()
		same(t, "told", w.statesSentTo("a"), states(working, needsInput, completed, contract.TaskFailed))
	})
}

func TestARefusalIsGivenUpAndShown(t *testing.T) {
	w := &world{NotifyFn: func(in contract.NotifyInput) (contract.NotifyResult, error) {
		if in.State.State == working {
			return contract.NotifyResult{}, fails(contract.KindPushRefused, "the webhook answered 400")
		}
		return contract.NotifyResult{Status: 200}, nil
	}}
	runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("a")
		s.publishState(working)
		s.rest()
		s.publishState(needsInput)
		s.rest()
		same(t, "told", w.statesSentTo("a"), states(working, needsInput))
		if d := s.details(pushID); !strings.Contains(d, "**not told** `working`") || !strings.Contains(d, "answered 400") || !strings.Contains(d, "told `input-required`") {
			t.Errorf("details:\n%s", d)
		}
	})
}

func TestAWebhookThatIsGoneIsDeleted(t *testing.T) {
	w := &world{NotifyFn: func(in contract.NotifyInput) (contract.NotifyResult, error) {
		return contract.NotifyResult{Status: 410, Gone: in.Config.ID == "gone"}, nil
	}}
	runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("gone", "a")
		s.publishState(working)
		s.rest()
		same(t, "webhooks", s.webhooks(), []string{"a"})
		s.publishState(needsInput)
		s.rest()
		same(t, "told", w.statesSentTo("gone"), states(working))
	})
}

func TestAWebhookIsTriedForADay(t *testing.T) {
	hook := &failingWebhook{}
	w := &world{NotifyFn: hook.notify}
	runPush(t, w, false, contract.PushInput{}, func(s *session) {
		s.set("dead")
		s.publishState(working)
		s.sleep(25 * time.Hour) // the test environment gives up after some attempts
		o := s.seen.options(contract.ActivityNotify.Name)
		same(t, "in all", o.Total, 24*time.Hour)
		same(t, "at most every", o.Pace, 10*time.Minute)
		if d := s.details(pushID); !strings.Contains(d, "**not told** `working`") || !strings.Contains(d, "the webhook was not reached") {
			t.Errorf("details:\n%s", d)
		}
	})
}
