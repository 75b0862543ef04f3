//go:build cluster

package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// tally is what the chaos came to.
type tally struct {
	conversations, accepted, answered, lost, attempts int
	approved, once, doubts, rejected                  int
	longest                                           wait
}

func (t *tally) add(o tally) {
	t.conversations++
	t.accepted += o.accepted
	t.answered += o.answered
	t.lost += o.lost
	t.attempts += o.attempts
	t.approved += o.approved
	t.once += o.once
	t.doubts += o.doubts
	t.rejected += o.rejected
	t.wait(o.longest)
}

// wait keeps the longest wait.
func (t *tally) wait(w wait) {
	if w.time > t.longest.time {
		t.longest = w
	}
}

// report logs the figures.
func (t *tally) report(log *testing.T, kills map[string]int) {
	var parts []string
	all := 0
	for _, name := range slices.Sorted(maps.Keys(kills)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, kills[name]))
		all += kills[name]
	}
	log.Logf("%d kills: %s", all, strings.Join(parts, ", "))
	log.Logf("%d conversations, %d messages accepted and %d answered, %d whose only attempt had no answer; %d requests to be repeated",
		t.conversations, t.accepted, t.answered, t.lost, t.attempts)
	log.Logf("%d calls approved: %d ran once, the outcome of %d was reported as unknown; %d rejected", t.approved, t.once, t.doubts, t.rejected)
	log.Logf("the longest wait was %v, %s", t.longest.time.Round(100*time.Millisecond), t.longest.what)
}

// judge compares what a user asked and decided with the transcript and with what ran.
func (v *visitor) judge(ran func(*message) int) (t tally) {
	v.t.Helper()
	t.attempts = v.attempts
	c, ok := v.read()
	for !ok && v.id != "" && !v.gone() && time.Now().Before(v.end.Add(2*patience)) {
		time.Sleep(200 * time.Millisecond)
		c, ok = v.read()
	}
	for _, m := range v.messages {
		v.judgeMessage(m, c, &t)
		v.judgeCalls(m, ran(m), c, &t)
		t.wait(m.longest)
	}
	return t
}

// judgeMessage checks that an accepted message is there once and has one answer.
func (v *visitor) judgeMessage(m *message, c transcript, t *tally) {
	v.t.Helper()
	times, answers := c.times(m.text), c.answers(m.text)
	switch {
	case m.accepted:
		t.accepted++
		if times != 1 {
			v.t.Errorf("%s (%s): %q was accepted and is there %d times", v.name, v.id, m.text, times)
		}
	case m.lost:
		t.lost++
		if times > 1 {
			v.t.Errorf("%s (%s): %q was sent once and is there %d times", v.name, v.id, m.text, times)
		}
	case times > 0:
		v.t.Errorf("%s (%s): %q was refused and is there", v.name, v.id, m.text)
	}
	if times == 0 {
		return
	}
	if len(answers) != 1 {
		v.t.Errorf("%s (%s): %q has %d answers: %q\n%s", v.name, v.id, m.text, len(answers), answers, c)
		return
	}
	if m.accepted {
		t.answered++
	}
}

// judgeCalls checks that a call ran as often as it was allowed.
func (v *visitor) judgeCalls(m *message, ran int, c transcript, t *tally) {
	v.t.Helper()
	if m.grants > 0 {
		t.approved++
	}
	if m.doubt {
		t.doubts++
	}
	if m.no {
		t.rejected++
	}
	if ran == 1 {
		t.once++
	}
	switch {
	case ran > m.grants:
		v.t.Errorf("%s (%s): %q was allowed %d times and ran %d times\n%s", v.name, v.id, m.text, m.grants, ran, c)
	case m.grants > 0 && ran == 0 && !m.doubt:
		v.t.Errorf("%s (%s): %q was approved and did not run, and nobody was asked\n%s", v.name, v.id, m.text, c)
	case ran > 1 && !m.doubt:
		v.t.Errorf("%s (%s): %q ran %d times\n%s", v.name, v.id, m.text, ran, c)
	}
}

// String is the transcript as a reader of a failed test needs it.
func (c transcript) String() string {
	out := c.ID + " " + c.Status
	for _, s := range c.Messages {
		out += fmt.Sprintf("\n  %s: %.300s", s.Role, s.Content)
		if s.ToolCall != nil {
			out += fmt.Sprintf(" %.300s", *s.ToolCall)
		}
	}
	return out
}
