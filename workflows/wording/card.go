package wording

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/judgement"
	"agent-stop-and-go/workflows/contract/verdict"
)

// ApprovalMemo returns the memo of an approval, from which lists and the gateway read. as is the
// setting of the agent; the token that comes with a login is always used.
func ApprovalMemo(in contract.ApprovalInput, as contract.CallAs) map[string]any {
	if in.Reason == contract.ReasonLogin {
		as = contract.CallAsApprover
	}
	memo := map[string]any{contract.MemoCard: Card(in), contract.MemoCallAs: cmp.Or(as, contract.CallAsRequester)}
	if in.Waits != nil { // whoever looks for approvals that other rules have not judged
		memo[judgement.MemoPolicy] = cmp.Or(in.Waits.Policy, verdict.PolicyOf(in.Basis.Raw))
	}
	if len(in.Approvers) > 0 {
		memo[contract.MemoApprovers] = in.Approvers
	}
	if in.Pending().TakesContent() { // the gateway validates answers with it
		memo[contract.MemoSchema] = in.Schema
	}
	return memo
}

// Card returns an approval's data in a list, within contract.CardLimit. Values that do not fit
// are cut and marked as cut.
func Card(in contract.ApprovalInput) contract.Card {
	var c contract.Card
	for _, room := range cardBudgets {
		if c = cardOfSize(in, room); cardSize(c) <= contract.CardLimit {
			break
		}
	}
	return c
}

// cardBudget bounds the bytes of the parts of a card. JSON escapes one byte with up to six.
type cardBudget struct {
	description, arguments, preview int
	names                           bool // the chain of agents and the requester
}

var cardBudgets = []cardBudget{
	{1500, contract.InlineLimit, 240, true},
	{1500, 0, 240, true},
	{400, 0, 120, true},
	{200, 0, 60, false},
}

func cardOfSize(in contract.ApprovalInput, r cardBudget) contract.Card {
	c := contract.Card{
		Server: shortName(in.Server), Node: shortName(in.Node), NodePath: in.NodePath, Reason: in.Reason, Because: in.Because,
		Rule: in.Rule, Policy: in.Policy,
		Digest: in.ArgumentsSHA256, Answer: contract.AnswerYesOrNo,
	}
	if c.Description, c.DescriptionTruncated = cut(in.Description, r.description); c.DescriptionTruncated && !isIncomplete(in) {
		c.Description = Incomplete(in.UUID) + "\n\n" + c.Description
	}
	if in.Answered() {
		c.Answer = contract.AnswerContent
	}
	if r.names {
		c.Chain, c.Requester = in.Chain(), in.Owner.Name()
	}
	c.ExpiresAt = in.ExpiresAt()
	if in.Arguments.Blob == nil && len(in.Arguments.Raw) <= r.arguments {
		c.Arguments = in.Arguments
		return c
	}
	c.ArgumentsTruncated = true
	c.ArgumentsPreview, _ = cut(Visible(beginning(in.Arguments)), r.preview)
	return c
}

func beginning(j contract.JSON) string {
	if j.Blob != nil {
		return j.Blob.Preview
	}
	return string(j.Raw)
}

func shortName(name string) string {
	short, _ := cut(name, 200)
	return short
}

// cut returns at most limit bytes of a text, and an ellipsis if it is cut.
func cut(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.TrimRight(s[:limit], " \n") + "…", true
}

func cardSize(c contract.Card) int {
	data, err := json.Marshal(c)
	if err != nil { // arguments that are not JSON are omitted
		return contract.CardLimit + 1
	}
	return len(data)
}
