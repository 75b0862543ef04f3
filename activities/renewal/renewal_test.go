package renewal_test

import (
	"fmt"
	"testing"

	"agent-stop-and-go/activities/renewal"
)

func TestATaskIsOfferedAFewTokensOnceEach(t *testing.T) {
	var offers renewal.Offers
	var taken int
	for range 2 {
		for i := range 10 {
			if offers.Take("task", fmt.Sprint("token ", i)) {
				taken++
			}
		}
	}
	if taken != 3 || !offers.Take("another", "token 0") || offers.Take("another", "token 0") {
		t.Errorf("%d tokens", taken)
	}
}

func TestAnOfferThatDidNotArriveIsMadeAgain(t *testing.T) {
	var offers renewal.Offers
	offers.Undo("task", "token")
	for range 5 {
		if !offers.Take("task", "token") {
			t.Fatal("it is not made again")
		}
		offers.Undo("task", "token")
	}
	if !offers.Take("task", "token") || offers.Take("task", "token") {
		t.Error("an offer that arrived is made again")
	}
}
