package workflows_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestTheRecordSaysWhoActed(t *testing.T) {
	alice := contract.Identity{Subject: "alice", Issuer: "keys", Scopes: []string{contract.ScopeConverse}, Channel: contract.ChannelREST}
	bob := contract.Identity{Subject: "bob", Issuer: "keys", Scopes: []string{contract.ScopeApprove}, Channel: contract.ChannelA2A}
	in := hello()
	in.Owner, in.First.Identity = alice, alice
	w := &world{GenerateFn: script(asks(add("x")), held)}
	converse(t, w, in, func(s *session) {
		s.rest()
		same(t, "owner", s.view().Owner, alice)
		uuid := s.pending().UUID
		s.decide(contract.DecideSignal{Approved: true, By: "bob", OnBehalfOf: "carol", Identity: bob})
		s.rest()
		s.env.SignalWorkflow(contract.SignalCancel, contract.CancelSignal{RequestID: "c1", By: "alice", Identity: alice})
		s.rest()
		record := s.approval(uuid).Result
		same(t, "decision", []any{record.By, record.OnBehalfOf, record.Identity}, []any{"bob", "carol", bob})
		tail := s.view().Transcript.Tail
		var senders []string
		for _, m := range tail {
			switch {
			case m.Identity != nil:
				senders = append(senders, string(m.Role)+" "+m.Identity.Key())
			case m.Approval != nil:
				senders = append(senders, "decision "+m.Approval.Identity.Key())
			}
		}
		same(t, "identities", strings.Join(senders, ", "), "user keys alice, decision keys bob, assistant keys alice")
	})
}
