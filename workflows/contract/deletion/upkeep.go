package deletion

import (
	"time"

	"agent-stop-and-go/workflows/contract"
)

// WorkflowUpkeep is the registered name of the workflow that deletes what is old and collects
// stored values that nothing refers to.
const WorkflowUpkeep = "Upkeep"

// UpkeepWorkflowID returns the ID of the upkeep by the workers of a task queue.
func UpkeepWorkflowID(taskQueue string) string { return "upkeep-" + taskQueue }

// The activities of an Upkeep.
var (
	ActivityExpire  = contract.Activity[UpkeepInput, Expired]{Name: "expire_conversations"}
	ActivityCollect = contract.Activity[UpkeepInput, Collected]{Name: "collect_values"}
)

// UpkeepInput is the argument of an Upkeep.
type UpkeepInput struct {
	// Collect collects values too. DryRun only counts.
	Collect bool `json:"collect,omitempty"`
	DryRun  bool `json:"dry_run,omitempty"`
}

// UpkeepResult is the result of an Upkeep.
type UpkeepResult struct {
	Expired   Expired    `json:"expired"`
	Collected *Collected `json:"collected,omitempty"`
}

// Expired counts old conversations.
type Expired struct {
	Deleted int `json:"deleted"`
	// Waiting ones are kept because an approval waits.
	Waiting int `json:"waiting"`
}

// Collected counts stored values.
type Collected struct {
	Values int `json:"values"` // all
	Used   int `json:"used"`   // something refers to them
	Young  int `json:"young"`  // nothing refers to them, and they are kept for their grace period
	// Discarded values are put aside, Restored ones put back, and Removed ones gone for good.
	Discarded      int   `json:"discarded"`
	DiscardedBytes int64 `json:"discarded_bytes"`
	Restored       int   `json:"restored"`
	Removed        int   `json:"removed"`
	RemovedBytes   int64 `json:"removed_bytes"`
}

// Grace is how long a value is kept after it was stored last, and once more after it was put
// aside. It is far longer than the time between the storing of a value and the history event
// that refers to it.
const Grace = 24 * time.Hour
