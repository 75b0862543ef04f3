package workflows_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/clienttool"
)

func pick(id string, destructive bool) contract.Call {
	c := callOf("pick_color", id, `{}`, destructive)
	c.Server, c.Client = "", true
	return c
}

// withTools returns a conversation whose first message has client tools.
func withTools(in contract.ConversationInput) contract.ConversationInput {
	in.First.Name, in.First.Tools = "m-1", contract.JSON{Raw: json.RawMessage(`[{"name":"pick_color"}]`)}
	return in
}

func answered(content string) contract.DecideSignal {
	raw, err := json.Marshal(clienttool.Result{Content: content})
	if err != nil {
		panic(err)
	}
	return contract.DecideSignal{Approved: true, Content: contract.JSON{Raw: raw}}
}

func TestAClientMakesItsCallsAndTheTurnGoesOn(t *testing.T) {
	w := &world{GenerateFn: script(asks(pick("a", false), list("l"), pick("b", false)), says("Done."))}
	converse(t, w, withTools(hello()), func(s *session) {
		s.rest()
		open := byCall(s.view())
		if len(open) != 2 || open[0].Reason != contract.ReasonClientTool || open[0].ToolName != "pick_color" {
			t.Fatalf("open: %+v", open)
		}
		same(t, "the server's tool ran meanwhile", s.world.ran(), []string{`resources_list{"pattern":"l"}`})
		same(t, "its tools went to the model", string(read(w, &w.prompts)[0].ClientTools.Raw), `[{"name":"pick_color"}]`)
		same(t, "the message's name", s.messages()[1].DraftID, "m-1")
		for i, c := range open {
			m := s.messages()[2+2*i]
			same(t, "call", c.Call, m.ID)
			same(t, "which is one", m.ToolCall.Name, "pick_color")
		}
		s.sleep(72 * time.Hour)
		s.decideOn(open[1].UUID, answered("blue"))
		s.rest()
		s.decideOn(open[0].UUID, typed(`{"content":{"content":"red","is_error":true}}`))
		s.rest()
		s.nothingWaits()
		var results []string
		for _, m := range s.messages() {
			if m.Role == contract.RoleTool {
				results = append(results, m.ToolCall.ID+" "+m.ToolCall.Result.Inline)
			}
		}
		same(t, "results", results, []string{"a red", "l resources_list done", "b blue"})
		same(t, "last line", s.lines()[len(s.lines())-1], "assistant: Done.")
		same(t, "the next turn has no tools", s.next1(t), true)
	})
}

// byCall returns the pending approvals in the order of their calls: those of one reply begin at
// the same time.
func byCall(v contract.ConversationView) (out []contract.PendingApproval) {
	for _, m := range v.Transcript.Tail {
		for _, p := range v.Pending {
			if p.Call == m.ID {
				out = append(out, p)
			}
		}
	}
	return out
}

// next1 sends a message without tools, and reports whether the model was offered none.
func (s *session) next1(t *testing.T) bool {
	s.world.GenerateFn = script(says("Again."))
	s.say("r9", "again")
	s.rest()
	same(t, "answer", s.answer("r9"), "Again.")
	prompts := read(s.world, &s.world.prompts)
	return prompts[len(prompts)-1].ClientTools.IsZero()
}

func TestAnAnswerThatIsNoneLeavesTheClientsCallOpen(t *testing.T) {
	w := &world{GenerateFn: script(asks(pick("a", false)), says("Done."))}
	converse(t, w, withTools(hello()), func(s *session) {
		s.rest()
		uuid := s.pending().UUID
		for _, wrong := range []string{`{"approved":true}`, `{"content":{"content":7}}`, `{"content":{}}`, `{}`} {
			s.decideOn(uuid, typed(wrong))
			s.rest()
			if problem := s.approval(uuid).Problem; problem == "" || s.pending().UUID != uuid {
				t.Errorf("%s was taken", wrong)
			}
		}
		s.decideOn(uuid, typed(`{"approved":false,"reason":"no screen"}`))
		s.rest()
		same(t, "result", s.messages()[5].ToolCall.Result.Inline, "The client did not make the call (rejected): no screen")
		same(t, "last line", s.lines()[len(s.lines())-1], "assistant: Done.")
	})
}

func TestADestructiveCallOfTheClientIsApprovedFirst(t *testing.T) {
	w := &world{GenerateFn: script(asks(pick("a", true)), says("Done."))}
	converse(t, w, withTools(hello()), func(s *session) {
		s.rest()
		same(t, "first", s.pending().Reason, contract.ReasonDestructive)
		s.approve()
		s.rest()
		same(t, "then", s.pending().Reason, contract.ReasonClientTool)
		s.decide(answered("blue"))
		s.rest()
		same(t, "last line", s.lines()[len(s.lines())-1], "assistant: Done.")
	})
}

func TestALongResultOfAClientGoesToTheStore(t *testing.T) {
	w := &world{GenerateFn: script(asks(pick("a", false)), says("Done."))}
	converse(t, w, withTools(hello()), func(s *session) {
		s.rest()
		s.decide(answered(strings.Repeat("blue ", 4000)))
		s.rest()
		if r := s.messages()[5].ToolCall.Result; r.Blob == nil || s.text(r) != strings.Repeat("blue ", 4000) {
			t.Errorf("result %.80s", r.Short())
		}
	})
}

func TestCancellingATurnWithdrawsTheClientsCall(t *testing.T) {
	w := &world{GenerateFn: script(asks(pick("a", false)), says("Done."))}
	converse(t, w, withTools(hello()), func(s *session) {
		s.rest()
		s.cancel("r2", "Enough.")
		s.rest()
		s.nothingWaits()
		same(t, "last line", s.lines()[len(s.lines())-1], "assistant: The turn was cancelled. Enough.")
	})
}

func TestNodesOfATreeHaveTheClientsToolsToo(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{
		"a": {asks(pick("x", false)), says("a")}, "b": {asks(pick("y", false)), says("b")},
	})}
	converse(t, w, withTools(tree(sequential("pipeline", parallel("both", llm("a"), llm("b"))))), func(s *session) {
		s.rest()
		same(t, "how many wait", len(s.waitingNodes()), 2)
		for _, node := range []string{"a", "b"} {
			s.decideOn(s.approvalOfNode(node).UUID, answered("for "+node))
			s.rest()
		}
		s.nothingWaits()
		for _, p := range read(w, &w.prompts) {
			same(t, "tools", string(p.ClientTools.Raw), `[{"name":"pick_color"}]`)
		}
	})
}
