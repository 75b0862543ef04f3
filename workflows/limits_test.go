package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// withTokens returns a reply with its usage.
func withTokens(r contract.GenerateResult, tokens int64) contract.GenerateResult {
	r.Model, r.Usage = "m-1", contract.Usage{InputTokens: tokens - 1, OutputTokens: 1, Calls: 1, Cost: 1_000_000 * tokens}
	return r
}

func limited(l contract.Limits) contract.ConversationInput {
	return with(hello(), func(a *contract.Agent) { a.Limits = &l })
}

func TestALimitOfTheTurnAsksWhetherToGoOn(t *testing.T) {
	w := &world{GenerateFn: script(withTokens(asks(list("a")), 60), withTokens(asks(list("b")), 60), withTokens(says("Done."), 60), withTokens(says("Again."), 60))}
	converse(t, w, limited(contract.Limits{Turn: contract.Limit{Tokens: 100}}), func(s *session) {
		s.rest()
		p := s.pending()
		same(t, "reason", p.Reason, contract.ReasonLimit)
		same(t, "tool", p.ToolName, contract.ToolGoOn)
		same(t, "arguments", string(p.ToolArgs.Raw), `{"allowed":100,"limit":"turn.tokens","more":100,"spent":120}`)
		same(t, "digest", p.Digest, contract.Hash(p.ToolArgs.Raw))
		same(t, "result", s.request("r1").Result.WaitingApproval, true)
		same(t, "tools ran before", len(s.world.ran()), 2)
		s.approve()
		s.rest()
		same(t, "last line", s.lines()[len(s.lines())-1], "assistant: Done.")
		s.say("r2", "more") // a new turn has its own limit
		s.rest()
		same(t, "next turn", s.answer("r2"), "Again.")
	})
}

func TestOneApprovalLetsATurnGoOnHoweverFarItIsBeyondItsLimit(t *testing.T) {
	w := &world{GenerateFn: script(withTokens(asks(list("a")), 60), withTokens(says("Done."), 60))}
	converse(t, w, limited(contract.Limits{Turn: contract.Limit{Tokens: 20}}), func(s *session) {
		s.rest()
		same(t, "arguments", string(s.pending().ToolArgs.Raw), `{"allowed":20,"limit":"turn.tokens","more":60,"spent":60}`)
		s.approve()
		s.rest()
		s.nothingWaits()
		same(t, "last line", s.lines()[len(s.lines())-1], "assistant: Done.")
	})
}

func TestARejectedLimitEndsTheTurnAndNothingElse(t *testing.T) {
	w := &world{GenerateFn: script(withTokens(asks(list("a")), 100), withTokens(says("Fresh."), 1))}
	converse(t, w, limited(contract.Limits{Turn: contract.Limit{Cost: 100_000_000}}), func(s *session) {
		s.rest()
		same(t, "arguments", string(s.pending().ToolArgs.Raw), `{"allowed":0.1,"limit":"turn.cost","more":0.1,"spent":0.1}`)
		s.reject()
		s.rest()
		same(t, "last line", s.lines()[len(s.lines())-1], "assistant: Stopped: the limit of 0.1 for this turn is reached.")
		s.say("r2", "again")
		s.rest()
		same(t, "next turn", s.answer("r2"), "Fresh.")
	})
}

func TestALimitOfTheConversationIsKeptAcrossTurnsAndRuns(t *testing.T) {
	w := &world{GenerateFn: script(withTokens(says("One."), 1), withTokens(says("Two."), 1), withTokens(says("Three."), 1), withTokens(says("Four."), 1))}
	var carried contract.Carried
	converse(t, w, limited(contract.Limits{Conversation: contract.Limit{Calls: 1}}), func(s *session) {
		s.rest()
		same(t, "first", s.answer("r1"), "One.")
		s.say("r2", "more")
		s.rest()
		s.approve()
		s.rest()
		same(t, "granted once", s.lines()[len(s.lines())-1], "assistant: Two.")
		s.say("r3", "more")
		s.rest()
		s.env.SetContinueAsNewSuggested(true)
		s.approve()
		s.rest()
		next, ok := s.next()
		if !ok {
			t.Fatal("no new run")
		}
		carried = *next.Carried
	})
	same(t, "granted", carried.Granted, contract.Limit{Calls: 2})
	same(t, "usage", carried.Usage.Calls, 3)
	in := limited(contract.Limits{Conversation: contract.Limit{Calls: 1}})
	in.First, in.Carried = nil, &carried
	converse(t, w, in, func(s *session) {
		s.say("r4", "more")
		s.rest()
		same(t, "asks again", string(s.pending().ToolArgs.Raw), `{"allowed":3,"limit":"conversation.calls","more":1,"spent":3}`)
	})
}

func TestTimeThatPeopleTakeIsNoTimeOfWork(t *testing.T) {
	w := &world{GenerateFn: script(withTokens(asks(add("x")), 1), withTokens(says("Done."), 1))}
	converse(t, w, limited(contract.Limits{Turn: contract.Limit{Time: time.Minute}}), func(s *session) {
		s.rest()
		s.sleep(48 * time.Hour)
		s.approve()
		s.rest()
		s.nothingWaits()
		same(t, "last line", s.lines()[len(s.lines())-1], "assistant: Done.")
	})
}

func TestNodesOfATreeShareALimit(t *testing.T) {
	root := sequential("pipeline", llm("a"), parallel("both", llm("b"), llm("c")), llm("d"))
	w := &world{GenerateFn: play(map[string][]any{
		"a": {withTokens(says("a"), 60)}, "b": {withTokens(says("b"), 30)}, "c": {withTokens(says("c"), 30)}, "d": {withTokens(says("d"), 10)},
	})}
	in := tree(root)
	in.Agent.Limits = &contract.Limits{Turn: contract.Limit{Tokens: 100}, Conversation: contract.Limit{Tokens: 1000}}
	converse(t, w, in, func(s *session) {
		s.rest()
		same(t, "who asks", strings.Join(s.waitingNodes(), " "), "d")
		s.approveAt("d", "")
		s.rest()
		s.nothingWaits()
		same(t, "usage", s.view().Usage.InputTokens+s.view().Usage.OutputTokens, 130)
		s.checkUsable()
	})
}

// What a tool of the agent itself asks of models counts like the conversation's own calls.
func TestWhatAToolAsksOfModelsCounts(t *testing.T) {
	ask := callOf("ask_model_with_tool", "a", `{"tool":"find","request":"x"}`, false)
	ask.Server, ask.Basis = "agent", contract.JSON{Raw: []byte(`{"before":[]}`)}
	used := returns("4")
	used.Usage, used.Used = contract.Usage{InputTokens: 90, OutputTokens: 10, Calls: 2, Cost: 5}, "find"
	var got contract.CallToolInput
	w := &world{
		GenerateFn: script(withTokens(asks(ask), 10), withTokens(says("Four."), 1)),
		CallToolFn: func(_ context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
			got = in
			return used, nil
		},
	}
	in := limited(contract.Limits{Turn: contract.Limit{Tokens: 100}})
	in.Agent.Tree = &contract.Node{Type: contract.NodeLLM, Name: in.Agent.Name, Tools: []string{"agent", "find"}}
	converse(t, w, in, func(s *session) {
		s.rest()
		same(t, "arguments", string(s.pending().ToolArgs.Raw), `{"allowed":100,"limit":"turn.tokens","more":100,"spent":110}`)
		same(t, "usage", s.view().Usage, contract.Usage{InputTokens: 99, OutputTokens: 11, Calls: 3, Cost: 10_000_005})
		same(t, "used", calledInside(s.view().Transcript.Tail), []string{"find"})
		same(t, "tools", got.Tools, []string{"agent", "find"})
		same(t, "basis", string(got.Basis.Raw), `{"before":[]}`)
		s.approve()
		s.rest()
		same(t, "last line", s.lines()[len(s.lines())-1], "assistant: Four.")
	})
}

// calledInside are the tools that tools of the agent itself have called.
func calledInside(messages []contract.Message) (out []string) {
	for _, m := range messages {
		if m.ToolCall != nil && m.ToolCall.Used != "" {
			out = append(out, m.ToolCall.Used)
		}
	}
	return out
}
