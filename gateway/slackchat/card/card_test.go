package card_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/wording"
)

func pending(call contract.Call) contract.PendingApproval {
	return contract.PendingApproval{
		UUID: "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e", ToolName: call.Name, ToolArgs: call.Arguments, Description: wording.Describe(call, ""),
	}
}

func blocksOf(t *testing.T, m card.Message) string {
	t.Helper()
	data, err := json.Marshal(m.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What a card hides of arguments, the description that repeats them does not show either.
func TestSecretsAreNotShown(t *testing.T) {
	for _, arguments := range []string{
		`{"password":"hunter2"}`,
		`{"pass\u0077ord":"hunter2"}`,
		`{"API-Key":"hunter2"}`,
		`{"list":[{"x":{"Client Secret":"hunter2"}}]}`,
		`{"a":{"token":"hunter2"},"a":1}`,
		`{"body":"{\"token\": \"hunter2\"}"}`,
		`{"body":"{\"to\\u006ben\": 1}","access_token":"hunter2"}`,
		`{"text":"hunter2` + strings.Repeat("x", 4000) + `"}`,
	} {
		p := pending(contract.Call{Name: "login", Arguments: contract.JSON{Raw: []byte(arguments)}, Server: "s", Preview: "+ hunter2"})
		for name, m := range map[string]card.Message{"waiting": card.Waiting(p, "http://a/"), "ended": card.Ended(p, contract.ApprovalResult{Decision: contract.Rejected}, "http://a/")} {
			blocks := blocksOf(t, m)
			if strings.Contains(blocks, "hunter2") || strings.Contains(blocks, card.Approve) || !strings.Contains(blocks, "http://a/") {
				t.Errorf("%s of %.60s: %s", name, arguments, blocks)
			}
		}
		if card.Whole(p) {
			t.Errorf("%.60s is whole", arguments)
		}
	}
	p := pending(contract.Call{Name: "write", Arguments: contract.JSON{Raw: []byte(`{"text":"the token: a secret","key":["b"]}`)}})
	if blocks := blocksOf(t, card.Waiting(p, "")); !card.Whole(p) || !strings.Contains(blocks, "the token: a secret") || !strings.Contains(blocks, card.Approve) {
		t.Errorf("harmless arguments are not shown: %s", blocks)
	}
}

// Of what was too long for the history a card has the beginning only.
func TestWhatIsShownInPartIsNotApproved(t *testing.T) {
	short, long := contract.JSON{Raw: []byte(`{"a":1}`)}, contract.JSON{Raw: []byte(`{"a":"` + strings.Repeat("x", contract.InlineLimit) + `"}`)}
	for name, p := range map[string]contract.PendingApproval{
		"arguments":   pending(contract.Call{Name: "write", Arguments: long}),
		"explanation": {UUID: "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e", ToolName: "ask", ToolArgs: short, Reason: contract.ReasonRemote, Description: "I will…", Explanation: contract.Inline("I will delete it.")},
	} {
		if blocks := blocksOf(t, card.Waiting(p, "http://a/")); card.Whole(p) || strings.Contains(blocks, card.Approve) || !strings.Contains(blocks, card.Reject) {
			t.Errorf("%s: %s", name, blocks)
		}
	}
}

// Slack counts characters after they were escaped.
func TestTextsStayWithinTheLimits(t *testing.T) {
	long := strings.Repeat("<&>", 2000)
	p := contract.PendingApproval{UUID: "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e", ToolName: long, Server: long, AgentName: long, Rule: long, Description: long, Requester: contract.Name{Subject: long}}
	for _, m := range []card.Message{
		card.Waiting(p, "http://a/"), card.Ended(p, contract.ApprovalResult{Decision: contract.Rejected, By: long, Reason: long}, "http://a/"), card.Reply("", "Calling "+long, "c"),
	} {
		texts := []string{m.Text}
		for _, b := range m.Blocks {
			texts = append(texts, textOf(t, b))
		}
		for _, text := range texts {
			if n := utf8.RuneCountInString(text); n > 3000 {
				t.Errorf("%d characters: %.100s", n, text)
			}
			if rest := strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "").Replace(text); strings.Contains(rest, "&") {
				t.Errorf("an escaped character is cut: %s", rest)
			}
		}
	}
}

func TestTheRulesHaveRejected(t *testing.T) {
	changed := &contract.Revision{Changes: []edit.Change{{Name: "amount", Before: "700", After: "400"}}}
	for want, r := range map[string]contract.ApprovalResult{
		"Approved by alice":              {Decision: contract.Approved, By: "alice", Revision: &contract.Revision{}},
		"Approved with changes by alice": {Decision: contract.Approved, By: "alice", Revision: changed},
	} {
		if got := card.Outcome(r); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	if got := card.Outcome(contract.ApprovalResult{Decision: contract.Rejected, Via: "policy"}); got != "Rejected by the rules of this agent" {
		t.Error(got)
	}
}
