package linear_test

import (
	"math"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"agent-stop-and-go/deploy/standalone/e2e/linear"
)

var two = linear.Rule{Count: 2, Group: []string{"ann", "bob", "carol", "dan"}, Escalate: []string{"boss", "chief"}, Not: "ann"}

// script is a history: each operation follows the one before, unless it is concurrent or lost.
type script struct {
	now int64
	all []porcupine.Operation
}

func (s *script) do(in linear.Input, out linear.Output) *script {
	s.now += 10
	o := porcupine.Operation{Input: in, Output: out, Call: s.now, Return: s.now + 5}
	if out.Result == linear.Lost {
		o.Return = math.MaxInt64
	}
	s.all = append(s.all, o)
	return s
}

func (s *script) see(a string) *script {
	return s.do(linear.Input{Op: linear.See, Approval: a}, linear.Output{})
}

func (s *script) escalated(a string) *script {
	return s.do(linear.Input{Op: linear.See, Approval: a, Escalated: true}, linear.Output{})
}

func (s *script) decide(a, who, place string, r linear.Result) *script {
	return s.do(linear.Input{Op: linear.Decide, Approval: a, Who: who, For: place, Approves: true}, linear.Output{Result: r})
}

func (s *script) reject(a, who string, r linear.Result) *script {
	return s.do(linear.Input{Op: linear.Decide, Approval: a, Who: who}, linear.Output{Result: r})
}

func (s *script) expire(a string) *script {
	return s.do(linear.Input{Op: linear.Expire, Approval: a}, linear.Output{})
}

func (s *script) deputy(op linear.Op, who, place string, r linear.Result) *script {
	return s.do(linear.Input{Op: op, Who: who, For: place}, linear.Output{Result: r})
}

func (s *script) read(a, decision, by, place string) *script {
	return s.do(linear.Input{Op: linear.Read, Approval: a}, linear.Output{Record: linear.Record{Decision: decision, By: by, For: place}})
}

func (s *script) run() *script { return s.do(linear.Input{Op: linear.Run}, linear.Output{}) }

// whileLast makes the last operation concurrent with the one before.
func (s *script) whileLast() *script {
	n := len(s.all)
	s.all[n-1].Call = s.all[n-2].Call
	return s
}

func begin() *script { return (&script{}).see("1") }

func TestWhatMayHappen(t *testing.T) {
	for name, s := range map[string]*script{
		"two people": begin().decide("1", "bob", "", linear.Done).see("2").decide("2", "carol", "", linear.Done).run().
			read("1", "approved", "bob", "").read("2", "approved", "carol", ""),
		"a rejection":            begin().decide("1", "bob", "", linear.Done).see("2").reject("2", "dan", linear.Done).read("2", "rejected", "dan", ""),
		"another was first":      begin().decide("1", "bob", "", linear.Done).decide("1", "dan", "", linear.Decided),
		"a decision that counts": begin().decide("1", "bob", "", linear.Lost).see("2").decide("2", "carol", "", linear.Done).run(),
		"one that does not":      begin().decide("1", "bob", "", linear.Lost).decide("1", "carol", "", linear.Done).see("2"),
		"an escalation":          begin().expire("1").escalated("2").decide("2", "boss", "", linear.Done).see("3").decide("3", "bob", "", linear.Done).run(),
		"an expiry that is seen late": begin().expire("1").decide("1", "bob", "", linear.Decided).
			read("1", "expired", "", "").escalated("2").decide("2", "bob", "", linear.Forbidden),
		"a decision at the last moment":               begin().expire("1").decide("1", "bob", "", linear.Done).whileLast().see("2"),
		"a deputy":                                    begin().deputy(linear.Appoint, "eve", "carol", linear.Done).decide("1", "eve", "carol", linear.Done).see("2").decide("2", "carol", "", linear.Forbidden),
		"who is nobody's deputy":                      begin().deputy(linear.Appoint, "eve", "carol", linear.Done).deputy(linear.Revoke, "eve", "carol", linear.Done).decide("1", "eve", "carol", linear.Forbidden),
		"a revocation that is lost":                   begin().deputy(linear.Appoint, "eve", "carol", linear.Done).deputy(linear.Revoke, "eve", "carol", linear.Lost).decide("1", "eve", "carol", linear.Done),
		"the requester":                               begin().decide("1", "ann", "", linear.Forbidden),
		"nothing runs after a rejection that is lost": begin().reject("1", "bob", linear.Lost).read("1", "rejected", "bob", ""),
	} {
		if err := linear.Check(two, s.all, time.Minute); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatMustNotHappen(t *testing.T) {
	half := func() *script { return begin().decide("1", "bob", "", linear.Done).see("2") }
	eve := func() *script { return begin().deputy(linear.Appoint, "eve", "carol", linear.Done) }
	for name, s := range map[string]*script{
		"two outcomes":                       begin().decide("1", "bob", "", linear.Done).decide("1", "carol", "", linear.Done),
		"two outcomes at once":               begin().decide("1", "bob", "", linear.Done).reject("1", "carol", linear.Done).whileLast(),
		"another outcome in the record":      begin().decide("1", "bob", "", linear.Done).read("1", "rejected", "bob", ""),
		"another person in the record":       begin().decide("1", "bob", "", linear.Done).read("1", "approved", "carol", ""),
		"a record that changes":              begin().decide("1", "bob", "", linear.Lost).decide("1", "dan", "", linear.Lost).read("1", "approved", "bob", "").read("1", "approved", "dan", ""),
		"a decision that is forgotten":       begin().decide("1", "bob", "", linear.Done).read("1", "", "", ""),
		"a decision about nothing":           begin().decide("7", "bob", "", linear.Done),
		"a decision after the expiry":        begin().expire("1").decide("1", "bob", "", linear.Done),
		"one after it that was lost":         begin().expire("1").decide("1", "bob", "", linear.Lost).read("1", "approved", "bob", ""),
		"an expiry before its time":          begin().read("1", "expired", "", "").expire("1"),
		"an expiry of what is decided":       begin().decide("1", "bob", "", linear.Done).expire("1").read("1", "expired", "", ""),
		"an escalation before the expiry":    begin().escalated("2"),
		"the same people after an expiry":    begin().expire("1").see("2"),
		"an escalation of an escalation":     begin().expire("1").escalated("2").expire("2").escalated("3"),
		"others than those of an escalation": begin().expire("1").escalated("2").decide("2", "bob", "", linear.Done),
		"a run after one approval":           half().run(),
		"a run without any":                  begin().run(),
		"a run after a rejection":            half().reject("2", "carol", linear.Done).run(),
		"a run before the second":            half().run().decide("2", "carol", "", linear.Done),
		"two runs":                           half().decide("2", "carol", "", linear.Done).run().run(),
		"a third approval":                   half().decide("2", "carol", "", linear.Done).see("3"),
		"an approval after a rejection":      begin().reject("1", "bob", linear.Done).see("2"),
		"one person twice":                   half().decide("2", "bob", "", linear.Done),
		"one person twice, first lost":       begin().decide("1", "bob", "", linear.Lost).see("2").decide("2", "bob", "", linear.Done),
		"as somebody's deputy":               half().deputy(linear.Appoint, "bob", "dan", linear.Done).decide("2", "bob", "dan", linear.Done),
		"with a deputy":                      half().deputy(linear.Appoint, "eve", "bob", linear.Done).decide("2", "eve", "bob", linear.Done),
		"whom a deputy stood for":            eve().decide("1", "eve", "carol", linear.Done).see("2").decide("2", "carol", "", linear.Done),
		"a deputy who was not appointed":     begin().decide("1", "eve", "carol", linear.Done),
		"one who was revoked":                eve().deputy(linear.Revoke, "eve", "carol", linear.Done).decide("1", "eve", "carol", linear.Done),
		"the requester":                      begin().decide("1", "ann", "", linear.Done),
		"the requester as a deputy":          begin().deputy(linear.Appoint, "ann", "dan", linear.Done).decide("1", "ann", "dan", linear.Done),
		"the requester's deputy":             begin().deputy(linear.Appoint, "eve", "ann", linear.Done).decide("1", "eve", "ann", linear.Done),
		"a stranger":                         begin().decide("1", "mallory", "", linear.Done),
		"a refusal of who may decide":        begin().decide("1", "bob", "", linear.Forbidden),
		"too late without a decision":        begin().decide("1", "bob", "", linear.Decided),
	} {
		h := linear.NewHistory()
		zero := time.Now()
		for _, o := range s.all { // as clients record it
			h.Add(0, o.Input.(linear.Input), o.Output.(linear.Output), zero.Add(time.Duration(o.Call)), zero.Add(time.Duration(o.Return)))
		}
		if err := linear.Check(two, h.Operations(), time.Minute); err == nil {
			t.Errorf("%s is allowed", name)
		}
	}
}
