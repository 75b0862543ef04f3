package record_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

func TestWhatReadersMakeOfAStateIsMadeOnce(t *testing.T) {
	type outer struct{}
	type inner struct{}
	s := record.State{Messages: []contract.Message{user("a", "hi"), text("b", "", "ho")}, Running: true}.WithMemo()
	made := 0
	count := func(s record.State) any { made++; return len(s.Messages) }
	around := func(s record.State) any { return s.Once(inner{}, count) }
	shorter := s
	shorter.Messages = s.Messages[:1]
	for _, of := range []record.State{s, shorter, s} {
		if got := of.Once(outer{}, around); got != 2 {
			t.Errorf("%v messages", got)
		}
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	record.State{}.Once(inner{}, count)
	record.State{}.Once(inner{}, count)
	if made != 3 {
		t.Errorf("a state that was not loaded keeps something")
	}
}

// The record of a changed state is not the memoized one.
func TestTheRecordOfAChangedState(t *testing.T) {
	s := record.State{Messages: []contract.Message{user("a", "hi"), call("c", "r", "0", "x")}, Running: true}.WithMemo()
	if a, b := s.Entries(), s.Entries(); len(a) != 2 || &a[0] != &b[0] {
		t.Error("the record was read twice")
	}
	over, shorter := s, s
	over.Running, shorter.Messages = false, s.Messages[:1]
	if n := len(over.Entries()); n != 3 {
		t.Errorf("once it is over there are %d entries", n)
	}
	if n := len(shorter.Entries()); n != 1 {
		t.Errorf("of one message there are %d entries", n)
	}
	if !s.Unchanged() || over.Unchanged() || shorter.Unchanged() || !s.Same(over) || s.Same(record.State{}) {
		t.Error("a changed state is taken for the one that was loaded, or for another")
	}
}
