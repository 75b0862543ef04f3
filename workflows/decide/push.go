package decide

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// QueueNotification adds to the queue of a webhook. It replaces undelivered states, which are
// outdated, except final ones.
func QueueNotification(queue []contract.PushItem, next contract.PushItem) []contract.PushItem {
	kept := slices.DeleteFunc(slices.Clone(queue), func(i contract.PushItem) bool { return !i.State.State.Over() })
	return append(kept, next)
}
