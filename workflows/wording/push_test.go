package wording_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

func TestDetailsOfPushNotificationsHoldNoSecrets(t *testing.T) {
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	s := contract.PushCarried{
		Last: &contract.PushState{State: contract.TaskWorking, At: at},
		Targets: []contract.PushTarget{{
			Config:    contract.PushConfig{ID: "a", URL: "https://u:s3cret@example.com/hook?key=s3cret#s3cret", Token: "s3cret", Scheme: "Bearer", Credentials: "s3cret"},
			Delivered: &contract.PushOutcome{State: contract.TaskSubmitted, At: at},
			Failed:    &contract.PushOutcome{State: contract.TaskInputRequired, At: at, Why: "the webhook answered 400"},
			Queue:     []contract.PushItem{{State: contract.PushState{State: contract.TaskWorking}, Since: at}},
		}},
	}
	got := wording.PushDetails(s, "no more room")
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
		if got := wording.PushDetails(s, ""); !strings.Contains(got, text) {
			t.Errorf("%q is not in\n%s", text, got)
		}
	}
}

func TestTheSummaryOfANotificationNamesTheHost(t *testing.T) {
	in := contract.NotifyInput{Config: contract.PushConfig{URL: "https://example.com:8443/hook?key=s3cret"}, State: contract.PushState{State: contract.TaskWorking}}
	if got := wording.PushSummary(in); got != "working to example.com:8443" {
		t.Error(got)
	}
}
