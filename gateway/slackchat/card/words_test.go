package card_test

import (
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/workflows/contract"
)

func TestWhoMay(t *testing.T) {
	for want, rules := range map[string][]string{
		"alice, or whoever may decide for everybody":                         nil,
		"whoever may decide for everybody; but not alice":                    {"not_requester"},
		"members of ops, or bob":                                             {"group:ops", "subject:bob"},
		"alice, or whoever has the scope deploy":                             {"requester", "scope:deploy"},
		"members of ops, or whoever may decide for everybody; but not alice": {"group:ops", "scope:approve:all", "not_requester"},
	} {
		if got := card.WhoMay(contract.PendingApproval{Approvers: rules, Requester: contract.Name{Subject: "alice"}}); got != want {
			t.Errorf("%v: %q, want %q", rules, got, want)
		}
	}
}

// What tools and people have written is no markup of Slack.
func TestACardQuotes(t *testing.T) {
	p := contract.PendingApproval{
		UUID: "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e", ToolName: "x`<!channel>", Server: "<@U1>", AgentName: "<https://a|b>", Rule: "<!here>",
		Description: "<!everyone>", ToolArgs: contract.JSON{Raw: []byte(`{"a":"<!channel>"}`)}, Requester: contract.Name{Subject: "<@U2>"},
	}
	for name, m := range map[string]card.Message{
		"waiting": card.Waiting(p, "http://a/"), "ended": card.Ended(p, contract.ApprovalResult{Decision: contract.Rejected, By: "<@U3>", Reason: "<!channel>"}, "http://a/"),
	} {
		texts := []string{m.Text}
		for _, b := range m.Blocks {
			texts = append(texts, textOf(t, b))
		}
		for _, text := range texts {
			for _, bad := range []string{"<!", "<@", "<https"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s: %s in %s", name, bad, text)
				}
			}
		}
	}
}

// textOf returns the texts in mrkdwn of a block. What is plain or preformatted, Slack shows as it is.
func textOf(t *testing.T, b slack.Block) (out string) {
	t.Helper()
	switch b := b.(type) {
	case *slack.SectionBlock:
		return b.Text.Text
	case *slack.ContextBlock:
		for _, e := range b.ContextElements.Elements {
			text, ok := e.(*slack.TextBlockObject)
			if !ok {
				t.Fatalf("%T", e)
			}
			out += text.Text
		}
	}
	return strings.ReplaceAll(out, "<http://a/|On the page>", "")
}
