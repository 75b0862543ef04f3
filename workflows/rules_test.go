package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// ruled returns a call with the verdict of a rule named after its outcome.
func ruled(c contract.Call, o verdict.Outcome, asks ...verdict.Approval) contract.Call {
	if o == verdict.Ask && len(asks) == 0 {
		asks = []verdict.Approval{{Rule: "ask"}}
	}
	c.Verdict = &verdict.Verdict{Outcome: o, Rule: string(o), Policy: "0123456789ab", Asks: asks}
	return c
}

func TestARuleLetsADestructiveCallRunAtOnceAndOnce(t *testing.T) {
	w := &world{GenerateFn: script(asks(ruled(add("x"), verdict.Allow)), says("Added."))}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "Added.")
	})
	same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
	same(t, "destructive", read(w, &w.calls)[0].Destructive, true)
	same(t, "recorded", s.messages()[2].ToolCall.Verdict.Rule, "allow")
	same(t, "approvals", len(s.seen.children), 0)
}

// Rules cost no activity: the calls of a turn with verdicts and facts are made in the same ones.
func TestRulesCostNoRoundTrip(t *testing.T) {
	run := func(read, change contract.Call) []string {
		w := &world{GenerateFn: script(asks(read), asks(change), says("Done."))}
		converse(t, w, hello(), func(s *session) {
			s.rest()
			s.approve()
			s.rest()
		})
		return trimmed(readLog(w))
	}
	read, change := ruled(list("a"), verdict.Allow), ruled(add("x"), verdict.Ask)
	read.Verdict.Facts = []byte(`{"sql":{"class":"read"}}`)
	with, without := run(read, change), run(list("a"), add("x"))
	same(t, "activities", with, without)
	same(t, "their number", len(with) >= 5, true)
}

func readLog(w *world) []string { return read(w, &w.log) }

func TestARuleThatAllowsOneCallDoesNotLetItRunBeforeAnotherIsApproved(t *testing.T) {
	w := &world{GenerateFn: script(asks(ruled(add("x"), verdict.Allow), add("y")), says("Added."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "ran", w.ran(), nil)
		s.approve()
		s.rest()
		same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`, `resources_add{"name":"y","value":1}`})
	})
}

func TestARuleThatRefusesAnswersTheModel(t *testing.T) {
	denied := ruled(add("x"), verdict.Deny)
	denied.Verdict.Text = "Ask the platform team."
	w := &world{GenerateFn: script(asks(denied, ruled(add("y"), verdict.DryRun), list("z")), says("I may not."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "transcript", s.lines()[2:], []string{
			`call resources_add {"name":"x","value":1}`, `call resources_add {"name":"y","value":1}`, `call resources_list {"pattern":"z"}`,
			`failed resources_add: Not allowed: the rule deny refuses this call of resources_add. Ask the platform team.`,
			`result resources_add: Dry run: resources_add was not called, because the rule dry_run says so. It would have been called with these arguments.`,
			"result resources_list: resources_list done", "assistant: I may not.",
		})
	})
	same(t, "ran", w.ran(), []string{`resources_list{"pattern":"z"}`})
}

func TestARuleAsksAboutAReadOnlyCall(t *testing.T) {
	w := &world{GenerateFn: script(asks(ruled(list("z"), verdict.Ask)), says("Listed."))}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		p := s.pending()
		same(t, "because", p.Because, contract.GroundRule)
		same(t, "rule", p.Rule+" "+p.Policy, "ask 0123456789ab")
		same(t, "description", p.Description, "**RESOURCES_LIST**\n\nArgs: {\n  \"pattern\": \"z\"\n}\n\nRule: ask")
		same(t, "ran", w.ran(), nil)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "Listed.")
	})
	same(t, "ran", w.ran(), []string{`resources_list{"pattern":"z"}`})
	same(t, "approvals", len(s.seen.children), 1)
}

func TestSeveralRulesAskOneAfterTheOther(t *testing.T) {
	two := []verdict.Approval{
		{Rule: "finance", By: []string{"group:finance"}, Expires: time.Hour}, {Rule: "ops", NotRequester: true},
	}
	in := hello()
	in.Owner = contract.Identity{Subject: "alice", Issuer: "keys"}
	w := &world{GenerateFn: script(asks(ruled(add("x"), verdict.Ask, two...)), says("Added."))}
	converse(t, w, in, func(s *session) {
		s.rest()
		same(t, "first", s.pending().Rule, "finance")
		same(t, "approvers", s.pending().Approvers, []string{"group:finance"})
		same(t, "expires", *s.pending().ExpiresAt, s.pending().CreatedAt.Add(time.Hour))
		s.approve()
		s.rest()
		same(t, "ran after one", w.ran(), nil)
		same(t, "second", s.pending().Rule, "ops")
		same(t, "approvers", s.pending().Approvers, []string{"scope:approve:all", "not_requester"})
		same(t, "expires", s.pending().ExpiresAt, nil)
		s.reject()
		s.rest()
	})
	same(t, "ran", w.ran(), nil)
}

func TestARuleAsksInNodesThatRunDestructiveCallsAtOnce(t *testing.T) {
	root := parallel("both", llm("one", prompt("one"), atOnce), llm("two", prompt("two"), atOnce))
	w := &world{GenerateFn: play(map[string][]any{
		"one": {asks(add("x")), says("x")}, "two": {asks(ruled(add("y"), verdict.Ask)), says("y")},
	})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
		same(t, "waits", s.pending().Node, "two")
		s.approve()
		s.rest()
	})
	same(t, "ran", len(w.ran()), 2)
}

func TestRulesJudgeTheDelegationOfANode(t *testing.T) {
	for o, want := range map[verdict.Outcome]string{
		verdict.Deny: `Not allowed: the rule deny refuses this call of a2a_writer.`, verdict.Allow: "written", verdict.Ask: "asks",
	} {
		var judged verdict.Delegation
		w := &world{DelegateFn: answers(remote(contract.TaskCompleted, "written")), JudgeFn: func(d verdict.Delegation) *verdict.Verdict {
			judged = d
			return ruled(contract.Call{}, o).Verdict
		}}
		root := ask("write it")
		destructive(&root)
		in := tree(root)
		in.Chain = []string{"front"}
		converse(t, w, in, func(s *session) {
			s.rest()
			if o == verdict.Ask {
				same(t, "rule", s.pending().Rule, "ask")
				s.reject()
				s.rest()
				return
			}
			same(t, string(o), s.answer("r1"), want)
		})
		same(t, "tool", judged.Tool, "a2a_writer")
		same(t, "chain", judged.Facts.Chain, []string{"front"})
		if sent := len(read(w, &w.sent)); (sent > 0) != (o == verdict.Allow) {
			t.Errorf("%s: %d messages were sent", o, sent)
		}
	}
}

func TestRulesLearnWhoCallsAndWhatWasUsed(t *testing.T) {
	in := silent()
	in.Owner = contract.Identity{Subject: "alice", Issuer: "keys"}
	w := &world{GenerateFn: script(asks(list("z")), says("Listed."), says("Forged."))}
	converse(t, w, in, func(s *session) {
		m := contract.MessageSignal{
			RequestID: "r1", Text: contract.Inline("hello"), Identity: contract.Identity{Subject: "bob", Issuer: "keys", Channel: "rest"},
			Groups: []string{"ops"}, Scopes: []string{"converse"},
		}
		m.Proof = s.prove(contract.ConversationWorkflowID(in.ID), contract.SignalMessage, m)
		s.message(m)
		s.rest()
		s.message(contract.MessageSignal{RequestID: "r2", Text: contract.Inline("typed"), Groups: []string{"ops"}, Scopes: []string{"operate"}})
		s.rest()
	})
	prompts := read(w, &w.prompts)
	same(t, "calls of models", len(prompts), 3)
	same(t, "caller", *prompts[1].Facts.Caller, verdict.Caller{Subject: "bob", Issuer: "keys", Groups: []string{"ops"}, Scopes: []string{"converse"}, Channel: "rest", Request: "r1"})
	same(t, "usage", prompts[1].Facts.Usage, verdict.Usage{InputTokens: 20, OutputTokens: 4})
	same(t, "who typed", *prompts[2].Facts.Caller, verdict.Caller{Request: "r2"})
}

func TestSeveralPeopleApproveOneAfterTheOther(t *testing.T) {
	in := hello()
	in.Owner = contract.Identity{Subject: "alice", Issuer: "keys"}
	in.Proof = ""
	two := verdict.Approval{Rule: "big", By: []string{"group:finance"}, NotRequester: true, Count: 2}
	w := &world{GenerateFn: script(asks(ruled(add("x"), verdict.Ask, two)), says("Added."))}
	converse(t, w, in, func(s *session) {
		s.rest()
		first := s.pending()
		if !strings.HasSuffix(first.Description, "Rule: big\nApproval 1 of 2, each by another person") {
			t.Error(first.Description)
		}
		bob := contract.Identity{Subject: "bob", Issuer: "keys", Groups: []string{"finance"}, Scopes: []string{"approve"}}
		s.decideOn(first.UUID, s.decidedBy(first.UUID, bob, contract.DecideSignal{Approved: true, By: "bob"}))
		s.rest()
		same(t, "ran after one", w.ran(), nil)
		second := s.pending()
		if !strings.HasSuffix(second.Description, "Rule: big\nApproval 2 of 2, each by another person\nApproved by: bob") {
			t.Error(second.Description)
		}
		same(t, "approvers", second.Approvers, []string{"group:finance", "not_requester", "not:keys bob"})
		s.decideOn(second.UUID, s.decidedBy(second.UUID, bob, contract.DecideSignal{Approved: true, By: "bob"}))
		s.rest()
		same(t, "ran after bob has decided twice", w.ran(), nil)
		carol := contract.Identity{Subject: "carol", Issuer: "keys", Groups: []string{"finance"}, Scopes: []string{"approve"}}
		s.decideOn(second.UUID, s.decidedBy(second.UUID, carol, contract.DecideSignal{Approved: true, By: "carol"}))
		s.rest()
	})
	same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
}

func TestAnApprovalThatExpiresIsEscalated(t *testing.T) {
	for name, tt := range map[string]struct {
		approval  verdict.Approval
		approvers []string
	}{
		"stop":     {verdict.Approval{Rule: "r", By: []string{"group:ops"}, Expires: time.Minute}, nil},
		"keep":     {verdict.Approval{Rule: "r", By: []string{"group:ops"}, NotRequester: true, Expires: time.Minute, Keep: true}, []string{"group:ops", "not_requester"}},
		"escalate": {verdict.Approval{Rule: "r", By: []string{"group:ops"}, NotRequester: true, Expires: time.Minute, Then: []string{"group:boss"}}, []string{"group:boss", "not_requester"}},
	} {
		in := hello()
		in.Agent.ApprovalTimeout = time.Hour
		w := &world{GenerateFn: script(asks(ruled(add("x"), verdict.Ask, tt.approval)), says("Added."))}
		s := converse(t, w, in, func(s *session) {
			s.rest()
			s.sleep(2 * time.Minute)
			if tt.approvers == nil {
				s.nothingWaits()
				return
			}
			p := s.pending()
			same(t, name+": approvers", p.Approvers, tt.approvers)
			same(t, name+": ends", p.ExpiresAt, nil)
			if !strings.HasSuffix(p.Description, "Rule: r\nNobody decided in time before") {
				t.Error(p.Description)
			}
			s.sleep(30 * 24 * time.Hour)
			s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
			s.rest()
			same(t, name+": answer", s.answer("d1"), "Added.")
		})
		if got, want := len(w.ran()) == 1, tt.approvers != nil; got != want {
			t.Errorf("%s: ran %v; %v", name, w.ran(), s.seen.children)
		}
	}
}

// Who approved a call decides about it again, and nobody else.
func TestTheRuleSaysWhoDecidesAboutACallOfUnknownOutcome(t *testing.T) {
	finance := verdict.Approval{Rule: "big", By: []string{"group:finance"}, NotRequester: true}
	w := &world{
		GenerateFn: script(asks(ruled(add("x"), verdict.Ask, finance)), says("Added.")),
		CallToolFn: func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
			return contract.CallToolResult{}, fails(contract.KindOutcomeUnknown, "no answer")
		},
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		p := s.pending()
		same(t, "reason", p.Reason, contract.ReasonUnknownOutcome)
		same(t, "approvers", p.Approvers, []string{"group:finance", "not_requester"})
		s.reject()
		s.rest()
	})
}

// reminders returns the notices of a conversation that remind of an approval.
func reminders(s *session, uuid string) (texts []string) {
	for _, m := range s.messages() {
		if m.Reminds == uuid && m.Notice {
			texts = append(texts, m.Content.Inline)
		}
	}
	return texts
}

func TestAnApprovalRemindsThoseWhoReadTheConversation(t *testing.T) {
	plan := verdict.Approval{Rule: "slow", Expires: 5 * time.Hour, Remind: []time.Duration{time.Hour, 3 * time.Hour}}
	for name, in := range map[string]contract.ConversationInput{
		"alone": hello(), "in a tree": tree(parallel("both", llm("one", prompt("one")), llm("two", prompt("two")))),
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: script(asks(ruled(add("x"), verdict.Ask, plan)), says("Nothing."))}
			if name != "alone" {
				w.GenerateFn = play(map[string][]any{"one": {asks(ruled(add("x"), verdict.Ask, plan)), says("x")}, "two": {says("y")}})
			}
			converse(t, w, in, func(s *session) {
				s.rest()
				uuid := s.pending().UUID
				s.sleep(59 * time.Minute)
				same(t, "too early", len(reminders(s, uuid)), 0)
				s.sleep(2 * time.Minute)
				same(t, "once", len(reminders(s, uuid)), 1)
				s.sleep(3 * time.Hour)
				same(t, "twice", len(reminders(s, uuid)), 2)
				if text := reminders(s, uuid)[1]; !strings.HasPrefix(text, "Reminder 2 of 2: resources_add still waits for a decision, since ") {
					t.Error(text)
				}
				view := s.approval(uuid)
				same(t, "in the approval", len(view.Reminded), 2)
				same(t, "decided", view.Result, nil)
				s.sleep(time.Hour)
				same(t, "expired", s.approval(uuid).Result.Decision, contract.Expired)
				same(t, "no more", len(reminders(s, uuid)), 2)
			})
			same(t, "ran", len(w.ran()), 0)
		})
	}
}

func TestAReminderThatNobodyRanForComesOnceAndDecidesNothing(t *testing.T) {
	in := question()
	in.Remind = []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour}
	in.CreatedAt = created.Add(-150 * time.Minute) // no worker ran for a while
	got := runApprovalAlone(t, in, func(s *session) {
		s.sleep(time.Second)
		same(t, "at once", len(s.approval(approvalID).Reminded), 1)
		s.sleep(time.Hour)
		same(t, "the last", len(s.approval(approvalID).Reminded), 2)
		s.decideOn(approvalID, contract.DecideSignal{Approved: true, By: "ops"})
		s.rest()
	})
	same(t, "decision", got.Decision, contract.Approved)
}
