package workflows_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/wording"
)

// person returns an identity as the record of an action has it.
func person(name, scope, channel string) contract.Identity {
	return contract.Identity{Subject: name, Issuer: "keys", Scopes: []string{scope}, Channel: channel}
}

// owned returns a conversation that alice has started.
func owned(t *testing.T) contract.ConversationInput {
	in := hello()
	in.Owner = person("alice", contract.ScopeConverse, contract.ChannelREST)
	in.First.Identity = in.Owner
	return proved(t, in)
}

func proved(t *testing.T, in contract.ConversationInput) contract.ConversationInput {
	s := &session{t: t}
	in.Proof = s.prove(contract.ConversationWorkflowID(in.ID), contract.WorkflowConversation, in.Start())
	return in
}

// decidedBy returns a decision as the gateway sends it.
func (s *session) decidedBy(uuid string, by contract.Identity, d contract.DecideSignal) contract.DecideSignal {
	s.t.Helper()
	d.By, d.Identity, d.Via = by.Subject, by, by.Channel
	d.Proof = s.prove(contract.ApprovalWorkflowID(uuid), contract.SignalDecide, d)
	return d
}

// messageBy sends the message "4".
func (s *session) messageBy(request string, by contract.Identity) {
	m := contract.MessageSignal{RequestID: request, Text: contract.Inline("4"), Identity: by}
	m.Proof = s.prove(contract.ConversationWorkflowID(conversationID), contract.SignalMessage, m)
	s.message(m)
	s.rest()
}

func (s *session) cancelBy(by contract.Identity) {
	c := contract.CancelSignal{RequestID: "c1", By: by.Subject, Identity: by}
	c.Proof = s.prove(contract.ConversationWorkflowID(conversationID), contract.SignalCancel, c)
	s.env.SignalWorkflow(contract.SignalCancel, c)
	s.rest()
}

// senders returns who is behind the messages and decisions.
func (s *session) senders() string {
	s.t.Helper()
	var list []string
	name := func(i contract.Identity) string { return i.Channel + " " + i.Subject }
	for _, m := range s.view().Transcript.Tail {
		switch {
		case m.Identity != nil:
			list = append(list, string(m.Role)+": "+name(*m.Identity))
		case m.Approval != nil:
			list = append(list, "decision: "+name(m.Approval.Identity))
		}
	}
	return strings.Join(list, ", ")
}

func TestTheRecordSaysWhoActed(t *testing.T) {
	in := owned(t)
	in.Agent.Approvers = []string{"subject:bob", approvers.NotRequester}
	bob := person("bob", contract.ScopeApprove, contract.ChannelA2A)
	w := &world{GenerateFn: script(asks(add("x")), held)}
	converse(t, w, in, func(s *session) {
		s.rest()
		same(t, "owner", s.view().Owner, in.Owner)
		asked := s.pending()
		same(t, "approvers", asked.Approvers, in.Agent.Approvers)
		s.decide(s.decidedBy(asked.UUID, bob, contract.DecideSignal{Approved: true, OnBehalfOf: "carol"}))
		s.rest()
		s.cancelBy(in.Owner)
		record := s.approval(asked.UUID).Result
		same(t, "decision", []any{record.By, record.OnBehalfOf, record.Identity}, []any{"bob", "carol", bob})
		same(t, "senders", s.senders(), "user: rest alice, decision: a2a bob, assistant: rest alice")
	})
}

func TestOnlyApproversDecide(t *testing.T) {
	in := owned(t)
	in.Agent.Approvers = []string{"group:ops", approvers.NotRequester}
	ops := person("bob", contract.ScopeApprove, contract.ChannelREST)
	ops.Groups = []string{"ops"}
	converse(t, &world{GenerateFn: script(asks(add("x")), says("Done."))}, in, func(s *session) {
		s.rest()
		uuid := s.pending().UUID
		for name, by := range map[string]contract.Identity{
			"the owner":     person("alice", contract.ScopeApprove, contract.ChannelREST),
			"somebody else": person("bob", contract.ScopeApprove, contract.ChannelREST),
		} {
			s.decide(s.decidedBy(uuid, by, contract.DecideSignal{Approved: true}))
			s.rest()
			same(t, name, s.approval(uuid).Problem, wording.TextNotApprover)
		}
		s.decide(s.decidedBy(uuid, ops, contract.DecideSignal{Approved: true}))
		s.rest()
		same(t, "record", s.approval(uuid).Result.Identity, ops)
	})
}

func TestAnUpdateOfSomebodyElseLeavesNoTrace(t *testing.T) {
	in := question()
	in.Owner = person("alice", contract.ScopeConverse, contract.ChannelREST)
	in.Approvers = approvers.Default()
	alice := person("alice", contract.ScopeApprove, contract.ChannelREST)
	got := runApprovalAlone(t, in, func(s *session) {
		bob := s.decidedBy(approvalID, person("bob", contract.ScopeApprove, contract.ChannelREST), contract.DecideSignal{Approved: true})
		forged := s.decidedBy(approvalID, alice, contract.DecideSignal{})
		forged.Approved = true
		for name, d := range map[string]contract.DecideSignal{"somebody else": bob, "a forged decision": forged, "no proof": {Approved: true, Identity: alice}} {
			u := s.decideBy(d)
			s.rest()
			same(t, name, kindOf(u.refused), contract.KindForbidden)
		}
		same(t, "ignored", s.approval(approvalID).Ignored, 0)
		u := s.decideBy(s.decidedBy(approvalID, alice, contract.DecideSignal{Approved: true}))
		s.rest()
		same(t, "error", u.err, nil)
	})
	same(t, "identity", got.Identity, alice)
}

// TestATypedSignalForgesNoIdentity sends what somebody may type who reads the history.
func TestATypedSignalForgesNoIdentity(t *testing.T) {
	in := owned(t)
	alice := person("alice", contract.ScopeApprove, contract.ChannelREST)
	converse(t, &world{GenerateFn: script(asks(add("x")), says("Done."), held)}, in, func(s *session) {
		s.rest()
		uuid := s.pending().UUID
		refused := s.decidedBy(uuid, alice, contract.DecideSignal{})
		refused.Approved = true // with the proof of a rejection
		foreign, err := keysOf("k2").Prove(contract.ApprovalWorkflowID(uuid), contract.SignalDecide, contract.DecideSignal{Approved: true, Identity: alice})
		same(t, "error", err, nil)
		for name, d := range map[string]contract.DecideSignal{
			"without a proof":           {Approved: true, Identity: alice},
			"with another key":          {Approved: true, Identity: alice, Proof: foreign},
			"with another's proof":      {Approved: true, Identity: alice, Proof: in.Proof},
			"with an earlier proof":     refused,
			"with the proof of another": s.decidedBy(firstUUID, alice, contract.DecideSignal{Approved: true}),
		} {
			s.decide(d)
			s.rest()
			same(t, name, s.approval(uuid).Problem, wording.TextUnproven)
		}
		s.decide(typed(`{"approved":true,"by":"alice","via":"rest","identity":{"channel":"rest"}}`))
		s.rest()
		record := s.approval(uuid).Result
		same(t, "typed by hand", []any{record.By, record.Via, record.Identity}, []any{"alice", "signal", contract.Identity{Channel: contract.ChannelSignal}})

		s.message(contract.MessageSignal{RequestID: "r2", Text: contract.Inline("pay"), Identity: in.Owner, Proof: in.Proof})
		s.env.SignalWorkflow(contract.SignalClose, contract.CloseSignal{RequestID: "c2", Identity: in.Owner})
		s.rest()
		same(t, "message", s.request("r2").Refused, contract.KindForbidden)
		same(t, "close", s.request("c2").Refused, contract.KindForbidden)
		s.say("r3", "hello")
		s.rest()
		same(t, "senders", s.senders(), "user: rest alice, decision: signal , user: signal ")
	})
}

func TestWhoStartsAConversationByHandIsNotKnown(t *testing.T) {
	in := owned(t)
	in.First.Text = contract.Inline("something else")
	converse(t, &world{GenerateFn: script(asks(add("x")))}, in, func(s *session) {
		s.rest()
		same(t, "owner", s.view().Owner, contract.Identity{})
		same(t, "senders", s.senders(), "")
		same(t, "approvers", s.pending().Approvers, nil)
	})
}

func TestTheOwnerAnswersAQuestionWhoeverApproves(t *testing.T) {
	in := owned(t)
	in.Agent.Approvers = []string{"group:ops", approvers.NotRequester}
	w := &world{GenerateFn: script(asks(quote()), says("Done.")), CallToolFn: holdTools}
	converse(t, w, in, func(s *session) {
		s.rest()
		s.ask(s.question(firstUUID))
		same(t, "approvers", s.pending().Approvers, []string{approvers.Asked, "group:ops"})
		s.messageBy("r2", person("bob", contract.ScopeConverse, contract.ChannelREST))
		same(t, "somebody else", s.request("r2").Refused, contract.KindForbidden)
		s.messageBy("r3", in.Owner)
		record := s.outcome(firstUUID)
		same(t, "answer", []any{record.Decision, record.By, record.Via, record.Identity}, []any{contract.Approved, "alice", "message", in.Owner})
		s.end(quote())
	})
}

// TestApprovalsInTreesAndOfOtherAgentsHaveTheRules, so that the gateway can decide by the
// approval alone.
func TestApprovalsInTreesAndOfOtherAgentsHaveTheRules(t *testing.T) {
	rules := []string{"group:ops"}
	for name, tt := range map[string]struct {
		root  contract.Node
		world *world
	}{
		"a node":        {sequential("both", llm("a", key("a")), llm("b", key("b"))), &world{GenerateFn: play(map[string][]any{"a": {asks(add("x")), says("done")}, "b": {says("done")}})}},
		"another agent": {ask("clean up"), &world{DelegateFn: (&writer{started: waitingTask("u1", "Delete it?"), now: waitingTask("u1", "Delete it?"), answered: remote(contract.TaskCompleted, "deleted")}).delegate}},
	} {
		t.Run(name, func(t *testing.T) {
			in := tree(tt.root)
			in.Owner = person("alice", contract.ScopeConverse, contract.ChannelA2A)
			in.First.Identity, in.Agent.Approvers = in.Owner, rules
			converse(t, tt.world, proved(t, in), func(s *session) {
				s.rest()
				p := s.pending()
				same(t, "approvers", p.Approvers, rules)
				s.decide(s.decidedBy(p.UUID, person("alice", contract.ScopeApprove, contract.ChannelREST), contract.DecideSignal{Approved: true}))
				s.rest()
				same(t, "the owner", s.approval(p.UUID).Problem, wording.TextNotApprover)
				ops := person("bob", contract.ScopeApprove, contract.ChannelREST)
				ops.Groups = []string{"ops"}
				s.decide(s.decidedBy(p.UUID, ops, contract.DecideSignal{Approved: true}))
				s.rest()
				same(t, "a member", s.approval(p.UUID).Result.Identity, ops)
			})
		})
	}
}
