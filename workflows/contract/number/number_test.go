package number_test

import (
	"fmt"
	"slices"
	"testing"

	"agent-stop-and-go/workflows/contract/number"
)

func TestEachConversationHasANumberOfItsOwn(t *testing.T) {
	var s number.State
	if got := s.Give([]string{"a", "b", "a"}).Numbers; !slices.Equal(got, []number.Number{{ID: "a", N: 101}, {ID: "b", N: 102}, {ID: "a", N: 101}}) {
		t.Errorf("%v", got)
	}
	if got := s.Give([]string{"c", "b"}).Numbers; !slices.Equal(got, []number.Number{{ID: "c", N: 103}, {ID: "b", N: 102}}) {
		t.Errorf("%v", got)
	}
	if s.ID(102) != "b" || s.Of("c") != 103 || s.ID(100) != "" || s.Of("x") != 0 {
		t.Errorf("%+v", s)
	}
}

// A number that a conversation has lost is not given to another one.
func TestNoNumberIsGivenTwice(t *testing.T) {
	var s number.State
	for i := range number.Max + 5 {
		s.Give([]string{fmt.Sprint("c", i)})
	}
	if len(s.Numbers) != number.Max || s.ID(number.First) != "" || s.Of("c5") != number.First+5 {
		t.Errorf("%d numbers, the first is %v", len(s.Numbers), s.Numbers[0])
	}
	if got := s.Give([]string{"c0"}).Numbers[0].N; got != number.First+number.Max+5 {
		t.Error(got)
	}
}
