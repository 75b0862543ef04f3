package rates

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract/rates"
)

var start = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func TestACallTooManyIsRefusedUntilTheOldestNoLongerCounts(t *testing.T) {
	var l log
	take := rates.Take{Calls: 2, In: 10 * time.Second}
	for i, step := range []struct {
		key string
		at  int
		out rates.Outcome
	}{
		{"a", 0, rates.Outcome{Room: true, New: true}},
		{"b", 4, rates.Outcome{Room: true, New: true}},
		{"a", 5, rates.Outcome{Room: true}}, // another attempt
		{"c", 9, rates.Outcome{At: at(10)}},
		{"c", 10, rates.Outcome{Room: true, New: true}},
		{"d", 11, rates.Outcome{At: at(14)}},
	} {
		take.Key = step.key
		l.prune(at(step.at), take.In)
		if out := l.take(take, at(step.at)); out != step.out {
			t.Errorf("step %d: %+v, expected %+v", i, out, step.out)
		}
	}
}

func TestCallsThatWaitGoOnInTheirOrder(t *testing.T) {
	var l log
	waits := func(seconds int) rates.Outcome { return rates.Outcome{Waits: true, At: at(seconds)} }
	room := rates.Outcome{Room: true, New: true}
	for i, step := range []struct {
		key   string
		at    int
		calls int
		out   rates.Outcome
	}{
		{"a", 0, 2, room}, {"b", 0, 2, room},
		{"c", 0, 2, waits(10)}, {"d", 0, 2, waits(10)}, {"e", 0, 2, waits(20)}, {"f", 0, 2, waits(20)},
		{"e", 10, 2, waits(20)}, // too early
		{"c", 10, 2, room},
		{"g", 10, 2, waits(30)},
		{"d", 13, 2, room}, // late, so those behind it are later, too
		{"e", 20, 2, room}, {"f", 20, 2, waits(23)}, {"g", 20, 2, waits(30)},
		{"g", 21, 5, room}, // after the limit was raised
		{"f", 21, 1, waits(31)},
	} {
		l.prune(at(step.at), 10*time.Second)
		take := rates.Take{Key: step.key, Calls: step.calls, In: 10 * time.Second, Wait: true}
		if out := l.take(take, at(step.at)); out != step.out {
			t.Errorf("step %d: %+v, expected %+v", i, out, step.out)
		}
	}
}

func TestACallThatIsGivenUpOrDoesNotAskLosesItsPlace(t *testing.T) {
	var l log
	take := rates.Take{Calls: 1, In: 10 * time.Second, Wait: true}
	for _, take.Key = range []string{"a", "b", "c", "d"} {
		l.take(take, start)
	}
	l.remove("b")
	take.Key = "c"
	if out := l.take(take, at(10)); !out.Room {
		t.Errorf("behind one that was given up: %+v", out)
	}
	take.Key = "e"
	l.prune(at(100), take.In)
	if out := l.take(take, at(100)); !out.Room || len(l.waiting) > 0 {
		t.Errorf("behind one that has not asked: %+v", out)
	}
}

func TestAnApprovedCallCountsAlthoughThereIsNoRoom(t *testing.T) {
	var l log
	for _, key := range []string{"a", "b", "c"} {
		if out := l.take(rates.Take{Key: key, Calls: 1, In: time.Minute, Over: true}, start); !out.Room {
			t.Errorf("%s: %+v", key, out)
		}
	}
	if out := l.take(rates.Take{Key: "d", Calls: 3, In: time.Minute}, at(1)); out.Room {
		t.Errorf("they do not count: %+v", out)
	}
}

func TestOnlySoManyCallsWait(t *testing.T) {
	var l log
	take := rates.Take{Calls: 1, In: time.Second, Wait: true}
	for i := range rates.MaxWaiting + 1 {
		take.Key = fmt.Sprint(i)
		l.take(take, start)
	}
	take.Key = "one more"
	if out := l.take(take, start); out.Waits || out.Room {
		t.Errorf("%+v", out)
	}
}

// Whatever happens, no time span has more calls than the limit.
func TestNoTimeSpanHasMoreCallsThanTheLimit(t *testing.T) {
	waited := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		var l log
		limit, in := 1+r.IntN(4), time.Duration(1+r.IntN(20))*time.Second
		var ran []time.Time
		now := start
		for range 300 {
			now = now.Add(time.Duration(r.IntN(3000)) * time.Millisecond)
			key := fmt.Sprint(r.IntN(40))
			if find(l.waiting, key) >= 0 && r.IntN(10) == 0 {
				l.remove(key)
				continue
			}
			l.prune(now, in)
			out := l.take(rates.Take{Key: key, Calls: limit, In: in, Wait: r.IntN(2) == 0}, now)
			if out.New {
				ran = append(ran, now)
			}
			if out.Waits {
				waited++
			}
		}
		for i := limit; i < len(ran); i++ {
			if ran[i].Sub(ran[i-limit]) < in {
				t.Fatalf("seed %d: %d calls within %s, at most %d may run in %s", seed, limit+1, ran[i].Sub(ran[i-limit]), limit, in)
			}
		}
	}
	if waited < 1000 {
		t.Errorf("only %d waited", waited)
	}
}
