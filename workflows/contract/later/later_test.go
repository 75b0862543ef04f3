package later_test

import (
	"fmt"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract/later"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func in(subject string, d time.Duration) later.Deferral {
	return later.Deferral{Subject: subject, Until: noon.Add(d)}
}

func TestEachPersonHasOneTimeOfTheirOwn(t *testing.T) {
	l := later.List{}.Put(in("alice", time.Hour), noon).Put(in("bob", time.Minute), noon).Put(in("alice", 2*time.Hour), noon)
	if until := l.Of("alice", noon); until == nil || !until.Equal(noon.Add(2*time.Hour)) {
		t.Errorf("alice: %v", until)
	}
	if until := l.Of("bob", noon.Add(time.Minute)); until != nil {
		t.Errorf("bob's time is over: %v", until)
	}
	if l = l.Put(in("carol", time.Hour), noon.Add(time.Minute)); len(l) != 2 || l.Of("bob", noon) != nil {
		t.Errorf("what is over is kept: %v", l)
	}
	if l = l.Put(later.Deferral{Subject: "alice"}, noon); l.Of("alice", noon) != nil {
		t.Errorf("it is not back: %v", l)
	}
}

func TestAListDoesNotGrow(t *testing.T) {
	var l later.List
	for n := range 3 * later.MaxPeople {
		l = l.Put(in(fmt.Sprint(n), time.Duration(n+1)*time.Minute), noon)
	}
	if len(l) != later.MaxPeople || l.Of("0", noon) != nil || l.Of("191", noon) == nil {
		t.Errorf("%d, %v", len(l), l)
	}
}

func TestNothingIsPutOffForYears(t *testing.T) {
	if in("a", later.MaxTime).Check(noon) != nil || in("a", later.MaxTime+1).Check(noon) == nil || (later.Deferral{}).Check(noon) != nil {
		t.Error("the bound is not kept")
	}
}
