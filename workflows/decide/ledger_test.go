package decide_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

func reply(text string) contract.Result { return contract.Result{Response: contract.Inline(text)} }

func id(i int) string { return fmt.Sprintf("r%d", i) }

// ledgerOf returns a ledger with the settled requests 0 to n-1.
func ledgerOf(n int) *decide.Ledger {
	l := &decide.Ledger{}
	for i := range n {
		l.Add(id(i), "f")
		l.Settle(id(i), reply(id(i)))
	}
	return l
}

func answered(l *decide.Ledger) []string {
	var out []string
	for _, r := range l.Requests() {
		if r.Result != nil {
			out = append(out, r.ID)
		}
	}
	return out
}

func TestARepeatedRequestIsNotCarriedOutAgain(t *testing.T) {
	var l decide.Ledger
	if !l.Add("a", "f1") {
		t.Error("the first request is refused")
	}
	if l.Add("a", "f1") || l.Add("a", "f2") {
		t.Error("a repeated request is carried out")
	}
	l.Settle("a", reply("done"))
	if l.Add("a", "f1") {
		t.Error("a request that was answered is carried out again")
	}
	if r := l.Find("a"); r == nil || r.Fingerprint != "f1" {
		t.Errorf("found %+v: expected the first fingerprint", r)
	}
	if l.Find("b") != nil {
		t.Error("found a request that never came")
	}
}

func TestTheFirstAnswerStays(t *testing.T) {
	var l decide.Ledger
	l.Add("a", "")
	l.Settle("a", reply("first"))
	l.Settle("a", reply("second"))
	l.Refuse("a", contract.KindWaiting, reply("third"))
	want := &contract.Request{ID: "a", Settled: true, Result: &contract.Result{Response: contract.Inline("first")}}
	if diff := cmp.Diff(want, l.Find("a")); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestARefusalIsAnAnswer(t *testing.T) {
	var l decide.Ledger
	l.Add("a", "")
	l.Refuse("a", contract.KindCompleted, reply("too late"))
	l.Settle("a", reply("done"))
	r := l.Find("a")
	if !r.Settled || r.Refused != contract.KindCompleted || r.Result.Response.Inline != "too late" {
		t.Errorf("got %+v", r)
	}
}

func TestAnsweringAnUnknownRequestDoesNothing(t *testing.T) {
	var l decide.Ledger
	l.Settle("a", reply("x"))
	l.Refuse("a", contract.KindWaiting, reply("x"))
	if len(l.Requests()) != 0 {
		t.Errorf("got %+v", l.Requests())
	}
}

func TestSettledListsOnlyWhatHasItsAnswer(t *testing.T) {
	l := ledgerOf(3)
	l.Add("open", "")
	got := l.Settled([]string{"r2", "open", "never came", "r0"})
	if len(got) != 2 || got[0].ID != "r2" || got[1].ID != "r0" {
		t.Errorf("got %+v", got)
	}
	if got := l.Settled(nil); got != nil {
		t.Errorf("got %+v for nothing", got)
	}
}

func TestTheOldestSettledRequestsAreForgotten(t *testing.T) {
	const extra = 44
	l := ledgerOf(contract.RememberedRequests + extra)
	l.Add("open", "")
	got := l.Requests()[:len(l.Requests())-1]
	if len(got) != contract.RememberedRequests || got[0].ID != id(extra) {
		t.Errorf("%d requests are remembered from %s on", len(got), got[0].ID)
	}
	if l.Add(id(extra), "") || !l.Add(id(extra-1), "") {
		t.Error("the border between remembered and forgotten is elsewhere")
	}
}

func TestAnUnsettledRequestIsNeverForgotten(t *testing.T) {
	var l decide.Ledger
	l.Add("open", "f")
	for i := range 3 * contract.RememberedRequests {
		l.Add(id(i), "")
		l.Settle(id(i), reply("x"))
	}
	if r := l.Find("open"); r == nil || r.Settled {
		t.Fatalf("found %+v", r)
	}
	if n := len(l.Requests()); n != contract.RememberedRequests+2 { // the open one, and one settled since the last Add
		t.Errorf("%d requests are remembered", n)
	}
	l.Settle("open", reply("at last"))
	if got := l.Settled([]string{"open"}); len(got) != 1 || got[0].Result == nil || got[0].Result.Response.Inline != "at last" {
		t.Errorf("a late answer is not there: %+v", got)
	}
}

func TestMoreOpenRequestsThanTheRingHoldsAllStay(t *testing.T) {
	var l decide.Ledger
	const n = contract.RememberedRequests + 10
	for i := range n {
		l.Add(id(i), "")
	}
	if got := len(l.Requests()); got != n {
		t.Fatalf("%d of %d open requests are remembered", got, n)
	}
	for i := range n {
		l.Settle(id(i), reply("x"))
	}
	l.Add("next", "")
	if got := len(l.Requests()); got != contract.RememberedRequests+1 {
		t.Errorf("%d requests are remembered after all were settled", got)
	}
}

func TestTheLastAnswersStay(t *testing.T) {
	const n = contract.RememberedAnswers + 40
	l := ledgerOf(n)
	l.Add("next", "")
	got := answered(l)
	if len(got) != contract.RememberedAnswers || got[0] != id(n-contract.RememberedAnswers) {
		t.Errorf("%d answers are remembered: %v", len(got), got)
	}
	if r := l.Find(id(0)); r == nil || !r.Settled || r.Result != nil {
		t.Errorf("a request whose answer is gone must still be known as settled: %+v", r)
	}
}

// The bound on kept answers includes requests that were settled late.
func TestLateAnswersAreForgottenToo(t *testing.T) {
	var l decide.Ledger
	for i := range 200 {
		l.Add(id(i), "")
	}
	for i := range 200 {
		l.Settle(id(i), reply("x"))
	}
	l.Add("next", "")
	if n := len(answered(&l)); n != contract.RememberedAnswers {
		t.Errorf("%d answers are remembered, expected %d", n, contract.RememberedAnswers)
	}
}

func TestAContinuedRunKnowsTheSame(t *testing.T) {
	l := ledgerOf(300)
	l.Add("open", "f")
	data, err := json.Marshal(l.Requests())
	if err != nil {
		t.Fatal(err)
	}
	var carried []contract.Request
	if err := json.Unmarshal(data, &carried); err != nil {
		t.Fatal(err)
	}
	next := decide.NewLedger(carried)
	if diff := cmp.Diff(l.Requests(), next.Requests()); diff != "" {
		t.Errorf("requests (-before +after):\n%s", diff)
	}
	if next.Add("open", "f") || next.Add("r299", "f") {
		t.Error("a request of the run before is carried out again")
	}
}

func TestALedgerDoesNotChangeWhatItContinues(t *testing.T) {
	before := ledgerOf(contract.RememberedRequests).Requests()
	first := before[0]
	l := decide.NewLedger(before)
	for i := range 200 {
		l.Add(fmt.Sprint("new", i), "")
	}
	if diff := cmp.Diff(first, before[0]); diff != "" {
		t.Errorf("the carried requests changed (-before +after):\n%s", diff)
	}
}
