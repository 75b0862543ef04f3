package workflows

import (
	"encoding/json"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/clienttool"
	"agent-stop-and-go/workflows/wording"
)

// callClient waits until the sender of the message has executed a call, without a limit, and
// returns the result. A call that is declined is a result too.
func (l *leaf) callClient(ctx workflow.Context, c call) contract.CallToolResult {
	in := l.approvalFor(ctx, c, wording.DescribeClientTool(l.describe(ctx, c.Call)), contract.ReasonClientTool)
	in.Schema = contract.JSON{Raw: json.RawMessage(clienttool.Schema)}
	r := l.awaitApproval(ctx, &in)
	var given clienttool.Result
	if r.Decision != contract.Approved || json.Unmarshal(r.Content.Raw, &given) != nil {
		return wording.ClientToolRefused(r.Decision, r.Reason)
	}
	return contract.CallToolResult{Text: l.storeText(ctx, given.Content), IsError: given.IsError}
}

// storeText moves a long text to the blob store.
func (l *leaf) storeText(ctx workflow.Context, text string) contract.Text {
	if len(text) <= contract.InlineLimit {
		return contract.Inline(text)
	}
	out, err := activity.RunLocal(ctx, contract.ActivityCompose, activity.LocalOptions(composeTimeout, wording.SummaryClientResult),
		contract.ComposeInput{Parts: []contract.Text{contract.Inline(text)}})
	if err != nil {
		workflow.GetLogger(ctx).Error("keep a long text", "node", l.node.Name, "error", err)
		return contract.Inline(text)
	}
	return out.Text
}
