package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

func items(states ...contract.TaskState) (out []contract.PushItem) {
	for _, s := range states {
		out = append(out, contract.PushItem{ID: string(s), News: contract.PushNews{State: s}})
	}
	return out
}

func TestNewsGivesWayToNewerNewsUnlessItIsFinal(t *testing.T) {
	const working, asks, done = contract.TaskWorking, contract.TaskInputRequired, contract.TaskCompleted
	for _, c := range []struct {
		name        string
		queue, want []contract.PushItem
		next        contract.TaskState
	}{
		{"nothing waits", nil, items(working), working},
		{"a state that has passed", items(working), items(asks), asks},
		{"the last state of all", items(asks), items(done), done},
		{"a final state is always told", items(done), items(done, working), working},
		{"and what came after it gives way", items(done, working), items(done, asks), asks},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(c.queue)
			got := decide.QueueNotification(c.queue, items(c.next)[0])
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(c.queue) != before {
				t.Error("the queue that was given has changed")
			}
		})
	}
}

func TestDetailsOfPushNotificationsHoldNoSecrets(t *testing.T) {
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	s := contract.PushCarried{
		Last: &contract.PushNews{State: contract.TaskWorking, At: at},
		Targets: []contract.PushTarget{{
			Config:    contract.PushConfig{ID: "a", URL: "https://u:s3cret@example.com/hook?key=s3cret#s3cret", Token: "s3cret", Scheme: "Bearer", Credentials: "s3cret"},
			Delivered: &contract.PushOutcome{State: contract.TaskSubmitted, At: at},
			Failed:    &contract.PushOutcome{State: contract.TaskInputRequired, At: at, Why: "the webhook answered 400"},
			Queue:     []contract.PushItem{{News: contract.PushNews{State: contract.TaskWorking}, Since: at}},
		}},
	}
	got := decide.PushDetails(s, "no more room")
	want := `### The task is working since 2026-03-14 12:00:00 UTC

- ` + "`https://example.com/hook`" + ` (a)
  - told ` + "`submitted`" + ` at 2026-03-14 12:00:00 UTC
  - **not told** ` + "`input-required`" + `, given up at 2026-03-14 12:00:00 UTC: the webhook answered 400
  - to be told ` + "`working`" + ` since 2026-03-14 12:00:00 UTC

**Trouble:** no more room
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for text, s := range map[string]contract.PushCarried{
		"Nothing has been told": {}, "tells nothing any more": {Gone: true},
		"`http://a`":  {Targets: []contract.PushTarget{{Config: contract.PushConfig{URL: "http://a#b@c/"}}}},
		"`http://c/`": {Targets: []contract.PushTarget{{Config: contract.PushConfig{URL: "http://a@b@c/?x@y/z"}}}},
	} {
		if got := decide.PushDetails(s, ""); !strings.Contains(got, text) {
			t.Errorf("%q is not in\n%s", text, got)
		}
	}
}

func TestTheSummaryOfANotificationNamesTheHost(t *testing.T) {
	in := contract.NotifyInput{Config: contract.PushConfig{URL: "https://example.com:8443/hook?key=s3cret"}, News: contract.PushNews{State: contract.TaskWorking}}
	if got := decide.PushSummary(in); got != "working to example.com:8443" {
		t.Error(got)
	}
}
