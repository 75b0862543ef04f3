package workflows_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestAToolWithTheNameOfOursIsShownWithAllItsArguments(t *testing.T) {
	foreign := callOf("resources_remove", "1", `{"also":"every/other/table","force":true,"id":"old\u202edraft"}`, true)
	foreign.Wording = ""
	converse(t, &world{GenerateFn: script(asks(foreign))}, hello(), func(s *session) {
		s.rest()
		want := "**RESOURCES_REMOVE**\n\nArgs: {\n  \"also\": \"every/other/table\",\n  \"force\": true,\n  \"id\": \"old\\u202edraft\"\n}"
		same(t, "description", s.pending().Description, want)
		s.reject()
		s.rest()
	})
}

func TestAnApprovalOfLongArgumentsSaysWhereTheRestIs(t *testing.T) {
	b := contract.NewBlob([]byte(`{"name":"` + strings.Repeat("x", 9000) + `"}`))
	long := add("x")
	long.Arguments = contract.JSON{Blob: &b}
	s := converse(t, &world{GenerateFn: script(asks(long))}, hello(), func(s *session) {
		s.rest()
		p := s.pending()
		first := "⚠️ NOT ALL OF IT IS SHOWN HERE. All of it: GET /approvals/" + p.UUID + "\n\n**RESOURCES_ADD**\n\n"
		if !strings.HasPrefix(p.Description, first) || !strings.Contains(s.messages()[3].Content.Inline, p.Description) {
			t.Errorf("description %q", p.Description)
		}
		s.reject()
		s.rest()
	})
	card := s.seen.children[0].Memo[contract.MemoCard].(contract.Card)
	if !strings.HasPrefix(card.Description, "⚠️ NOT ALL OF IT IS SHOWN HERE.") || strings.Count(card.Description, "NOT ALL") != 1 {
		t.Errorf("card %q", card.Description)
	}
}

func TestWhatAnotherAgentSaysAtLengthIsKeptWhole(t *testing.T) {
	b := contract.NewBlob([]byte(strings.Repeat("Sure? ", 1000)))
	asked := remote(contract.TaskInputRequired, "")
	asked.Text = contract.Text{Blob: &b}
	w := &world{DelegateFn: answers(asked, remote(contract.TaskCompleted, "done"))}
	converse(t, w, tree(ask("clean up")), func(s *session) {
		s.rest()
		p := s.pending()
		same(t, "explanation", p.Explanation, contract.Text{Blob: &b})
		if !strings.HasPrefix(p.Description, "⚠️ NOT ALL OF IT IS SHOWN HERE. All of it: GET /approvals/"+p.UUID+"\n\n") {
			t.Errorf("description %q", p.Description)
		}
		s.approve()
		s.rest()
	})
}
