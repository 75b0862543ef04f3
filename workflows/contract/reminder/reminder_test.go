package reminder_test

import (
	"slices"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract/reminder"
)

func TestAPlanThatNoApprovalCanFollowIsRefused(t *testing.T) {
	long := make(reminder.Plan, reminder.Max+1)
	for i := range long {
		long[i] = time.Duration(i+1) * time.Hour
	}
	for _, p := range []reminder.Plan{{0}, {time.Millisecond}, {time.Hour, time.Hour}, {2 * time.Hour, time.Hour}, {48 * time.Hour}, {50 * time.Hour}, long} {
		if p.Check(48*time.Hour) == nil {
			t.Errorf("%v is accepted", p)
		}
	}
	for _, p := range []reminder.Plan{nil, {time.Second}, {time.Hour, 4 * time.Hour, 47 * time.Hour}} {
		if err := p.Check(48 * time.Hour); err != nil {
			t.Errorf("%v: %v", p, err)
		}
	}
	if err := (reminder.Plan{1000 * time.Hour}).Check(0); err != nil {
		t.Error(err)
	}
}

func TestWhatIsDue(t *testing.T) {
	p := reminder.Plan{time.Hour, 3 * time.Hour}
	for waited, want := range map[time.Duration]int{0: 0, time.Hour - 1: 0, time.Hour: 1, 2 * time.Hour: 1, 3 * time.Hour: 2, 90 * time.Hour: 2} {
		if got := p.Due(waited); got != want {
			t.Errorf("after %s: %d", waited, got)
		}
	}
}

func TestTwoPlansRemindAtTheTimesOfBoth(t *testing.T) {
	got := reminder.Plan{time.Hour, 3 * time.Hour}.Merge(reminder.Plan{2 * time.Hour, 3 * time.Hour})
	if !slices.Equal(got, reminder.Plan{time.Hour, 2 * time.Hour, 3 * time.Hour}) {
		t.Errorf("%v", got)
	}
}
