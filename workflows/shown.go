package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// changeShown marks histories in which people see every character and every argument of
// what they approve. The length of a text may decide when messages are folded.
const changeShown = "show-every-character"

// worded is a text as it is worded now, unless the history has the earlier wording.
func (l *leaf) worded(ctx workflow.Context, earlier, now string) string {
	if earlier != now && workflow.GetVersion(ctx, changeShown, workflow.DefaultVersion, 1) < 1 {
		return earlier
	}
	return now
}

// describe says what a call would do.
func (l *leaf) describe(ctx workflow.Context, c contract.Call) string {
	node := l.nameInTree()
	return l.worded(ctx, wording.DescribeEarlier(c, node), wording.Describe(c, node))
}

// describeUnknown asks what to do about a call whose answer was lost.
func (l *leaf) describeUnknown(ctx workflow.Context, c contract.Call, why string) string {
	request := l.describe(ctx, c)
	return l.worded(ctx, wording.DescribeUnknownEarlier(c.Name, request, why), wording.DescribeUnknown(c.Name, request, why))
}

// describeNotReached asks what to do about a call that did not reach its server.
func (l *leaf) describeNotReached(ctx workflow.Context, c contract.Call, why string) string {
	request := l.describe(ctx, c)
	return l.worded(ctx, wording.DescribeNotReachedEarlier(c.Name, request, why), wording.DescribeNotReached(c.Name, request, why))
}

// apart is what others have written, set apart from what is ours.
func (l *leaf) apart(ctx workflow.Context, t contract.Text) string {
	return l.worded(ctx, t.Short(), wording.Apart(t.Short()))
}
