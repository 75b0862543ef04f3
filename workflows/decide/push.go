package decide

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// QueueNotification adds to what a webhook is still to be told. What is not yet
// delivered is out of date by then and gives way, but for final states.
func QueueNotification(queue []contract.PushItem, next contract.PushItem) []contract.PushItem {
	kept := slices.DeleteFunc(slices.Clone(queue), func(i contract.PushItem) bool { return !i.State.State.Over() })
	return append(kept, next)
}
