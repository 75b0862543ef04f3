package backend

import (
	"context"
	"fmt"
	"strings"

	workflowpb "go.temporal.io/api/workflow/v1"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// maxAttempts is how often a workflow task may fail before that is reported as a problem. The
// first failures may come from a worker that has ended.
const maxAttempts = 3

// Trouble implements Conversations.
func (t *Temporal) Trouble(ctx context.Context, id string) (service.Item, string, error) {
	workflowID := contract.ConversationWorkflowID(id)
	d, err := t.client.DescribeWorkflowExecution(ctx, workflowID, "")
	switch {
	case isNotFound(err):
		return service.Item{}, "", service.NoConversation(id)
	case err != nil:
		return service.Item{}, "", fault(err, "describe the conversation")
	}
	item, _ := itemOf(d.GetWorkflowExecutionInfo())
	return item, t.stuck(workflowID, d.GetPendingWorkflowTask()), nil
}

// Owner implements Conversations. A conversation of another agent does not exist here: that agent
// may prove its callers in another way, and its owners are not those of the same name here.
func (t *Temporal) Owner(ctx context.Context, id string) (service.Owner, error) {
	d, err := t.client.DescribeWorkflowExecution(ctx, contract.ConversationWorkflowID(id), "")
	info := d.GetWorkflowExecutionInfo()
	if isNotFound(err) || t.isElsewhere(info) {
		return service.Owner{}, service.NoConversation(id)
	}
	return ownerOf(info.GetSearchAttributes().GetIndexedFields()), fault(err, "describe the conversation")
}

// isElsewhere reports whether a workflow is another agent's, which shares the namespace.
func (t *Temporal) isElsewhere(info *workflowpb.WorkflowExecutionInfo) bool {
	queue := info.GetTaskQueue()
	return queue != "" && queue != t.taskQueue
}

// stuck returns the problem of a workflow whose task keeps failing, or "".
func (t *Temporal) stuck(workflowID string, task *workflowpb.PendingWorkflowTaskInfo) string {
	if task.GetAttempt() <= maxAttempts {
		return ""
	}
	command := strings.Join(append(append([]string{"temporal workflow terminate"}, t.console.Flags()...), "--workflow-id "+workflowID), " ")
	return fmt.Sprintf("The conversation cannot go on: its workflow task has failed %d times. Nothing is lost, and it goes on when a worker "+
		"can carry it out. The worker's log says why. To give it up: %s", task.GetAttempt()-1, command)
}
