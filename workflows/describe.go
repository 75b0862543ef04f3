package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// changeShown marks histories in which descriptions show every character and every argument.
// The length of a text may determine when messages are offloaded.
const changeShown = "show-every-character"

// chooseWording returns the current wording of a text, or the earlier one for older histories.
func (l *leaf) chooseWording(ctx workflow.Context, earlier, now string) string {
	if earlier != now && workflow.GetVersion(ctx, changeShown, workflow.DefaultVersion, 1) < 1 {
		return earlier
	}
	return now
}

// describe describes the effect of a call.
func (l *leaf) describe(ctx workflow.Context, c contract.Call) string {
	node := l.nameInTree()
	return l.chooseWording(ctx, wording.DescribeEarlier(c, node), wording.Describe(c, node))
}

// describeUnknown asks what to do about a call whose result was lost.
func (l *leaf) describeUnknown(ctx workflow.Context, c contract.Call, why string) string {
	request := l.describe(ctx, c)
	return l.chooseWording(ctx, wording.DescribeUnknownEarlier(c.Name, request, why), wording.DescribeUnknown(c.Name, request, why))
}

// describeNotReached asks what to do about a call that did not reach its server.
func (l *leaf) describeNotReached(ctx workflow.Context, c contract.Call, why string) string {
	request := l.describe(ctx, c)
	return l.chooseWording(ctx, wording.DescribeNotReachedEarlier(c.Name, request, why), wording.DescribeNotReached(c.Name, request, why))
}

// setApart marks text from outside.
func (l *leaf) setApart(ctx workflow.Context, t contract.Text) string {
	return l.chooseWording(ctx, t.Short(), wording.SetApart(t.Short()))
}
