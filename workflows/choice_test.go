package workflows_test

import (
	"context"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// choosing is an agent whose model people may choose, and a world in which models say who they are.
func choosing(in contract.ConversationInput) (contract.ConversationInput, *world) {
	return with(in, func(a *contract.Agent) { a.Choices = []string{"deep", "fast"} }), &world{
		GenerateFn: func(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
			return says("I am " + in.Model), nil
		},
	}
}

func TestAModelIsChosenForAMessageOrTheConversation(t *testing.T) {
	in, w := choosing(hello())
	in.First.Model = "fast"
	converse(t, w, in, func(s *session) {
		s.rest()
		for i, m := range []contract.MessageSignal{{}, {Model: "deep", KeepModel: true}, {}, {Model: "fast"}, {}, {Model: "demo:rules", KeepModel: true}, {}} {
			m.RequestID, m.Text = string(rune('a'+i)), contract.Inline("x")
			s.message(m)
			s.rest()
		}
		var chosen, said []string
		for _, m := range s.messages() {
			switch m.Role {
			case contract.RoleUser:
				chosen = append(chosen, m.Model)
			case contract.RoleAssistant:
				said = append(said, m.Content.Inline)
			}
		}
		same(t, "chosen", chosen, []string{"fast", "", "deep", "", "fast", "", "demo:rules", ""})
		same(t, "for the conversation", s.view().Model, "demo:rules")
		same(t, "said", said, []string{"I am fast", "I am demo:rules", "I am deep", "I am deep", "I am fast", "I am deep", "I am demo:rules", "I am demo:rules"})
	})
}

func TestATreeIsAnsweredByTheChosenModel(t *testing.T) {
	in, w := choosing(tree(sequential("both", llm("a"), llm("b", func(n *contract.Node) { n.Model = "fixed" }))))
	in.Agent.Model = "demo:rules"
	in.First.Model = "deep"
	converse(t, w, in, func(s *session) {
		s.rest()
		var asked []string
		for _, p := range read(w, &w.prompts) {
			asked = append(asked, p.Model)
		}
		same(t, "asked", asked, []string{"deep", "fixed"})
		shown := query[contract.TreeView](s, contract.ConversationWorkflowID(conversationID), contract.QueryTree)
		same(t, "shown", shown.Node.Nodes[0].Model, "deep")
	})
}

func TestAModelThatNobodyMayChooseIsRefused(t *testing.T) {
	in, w := choosing(hello())
	converse(t, w, in, func(s *session) {
		s.rest()
		q := aMessage
		q.Model = "dear"
		no := s.predictedRefusal(q)
		same(t, "kind", no.Refused, contract.KindInvalid)
		same(t, "text", no.Result.Response.Inline, `the model "dear" cannot be chosen; these can be: demo:rules, deep, fast`)
		s.message(contract.MessageSignal{RequestID: "r2", Text: contract.Inline("x"), Model: "dear"})
		s.rest()
		same(t, "last line", s.request("r2").Refused, contract.KindInvalid)
		q.Model = "fast"
		same(t, "another", s.predictedRefusal(q), contract.Request{})
	})
}
