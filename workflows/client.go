package workflows

import (
	"encoding/json"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// callClient waits for the sender of the message to make a call, for as long as it
// takes, and returns the result. A call that is declined is a result, too.
func (l *leaf) callClient(ctx workflow.Context, c call) contract.CallToolResult {
	in := l.approvalFor(ctx, c, wording.DescribeClientTool(l.describe(ctx, c.Call)), contract.ReasonClientTool)
	in.Schema = contract.JSON{Raw: json.RawMessage(contract.ClientToolSchema)}
	r := l.await(ctx, in)
	var given contract.ClientToolResult
	if r.Decision != contract.Approved || json.Unmarshal(r.Content.Raw, &given) != nil {
		return wording.ClientToolRefused(r.Decision, r.Reason)
	}
	return contract.CallToolResult{Text: l.kept(ctx, given.Content), IsError: given.IsError}
}

// kept is a text that is in the blob store when it is long.
func (l *leaf) kept(ctx workflow.Context, text string) contract.Text {
	if len(text) <= contract.InlineLimit {
		return contract.Inline(text)
	}
	out, err := runLocal(ctx, contract.ActivityCompose, lean(composeTimeout, wording.SummaryClientResult),
		contract.ComposeInput{Parts: []contract.Text{contract.Inline(text)}})
	if err != nil {
		workflow.GetLogger(ctx).Error("keep a long text", "node", l.node.Name, "error", err)
		return contract.Inline(text)
	}
	return out.Text
}
