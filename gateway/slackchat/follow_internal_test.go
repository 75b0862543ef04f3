package slackchat

import (
	"errors"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// A thread that only waits for decisions keeps no record: there may be many, for days.
func TestAThreadThatWaitsKeepsNoRecord(t *testing.T) {
	now := time.Now()
	c := &Chat{Options: Options{Now: func() time.Time { return now }}}
	s := &record.State{}
	s.Document.PendingApprovals = []contract.PendingApproval{{UUID: "a"}, {UUID: "b"}}
	f := &thread{chat: c, moved: now, state: s, last: s}
	if _, ends := f.rest(); ends || f.current() != s {
		t.Fatal("it does not linger")
	}
	now = now.Add(linger)
	if err, ends := f.rest(); !ends || !errors.Is(err, errWaits) || len(f.waits) != 2 {
		t.Fatalf("%v %t %v", err, ends, f.waits)
	}
	if f.state != nil || f.last != nil {
		t.Error("the record is kept")
	}
}
