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
	ActivityMark    = contract.Activity[UpkeepInput, Marked]{Name: "mark_values"}
	ActivityCollect = contract.Activity[UpkeepInput, Collected]{Name: "collect_values"}
)

// UpkeepInput is the argument of an Upkeep.
type UpkeepInput struct {
	// Mark marks the values that are in use; Collect marks them and then collects the others.
	Mark    bool `json:"mark,omitempty"`
	Collect bool `json:"collect,omitempty"`
	// DryRun deletes and removes nothing, and only counts.
	DryRun bool `json:"dry_run,omitempty"`
}

// UpkeepResult is the result of an Upkeep.
type UpkeepResult struct {
	Expired   Expired    `json:"expired"`
	Marked    *Marked    `json:"marked,omitempty"`
	Collected *Collected `json:"collected,omitempty"`
}

// Expired counts old conversations.
type Expired struct {
	Deleted int `json:"deleted"`
	// Waiting ones are kept, because an approval waits or a turn runs.
	Waiting int `json:"waiting"`
	// Pending are deletions that go on.
	Pending int `json:"pending,omitempty"`
}

// Marked counts the sums that were marked.
type Marked struct {
	Sums int `json:"sums"`
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
	// Damaged are the sums of used values that cannot be decrypted.
	Damaged []string `json:"damaged,omitempty"`
	// Late are the holders that have not marked their values for long. Only what is older than
	// their marks is collected.
	Late []Late `json:"late,omitempty"`
}

// Late is a holder whose marks are old.
type Late struct {
	File      string    `json:"file"` // its marks in the blob store
	AgentName string    `json:"agent_name"`
	Began     time.Time `json:"began"`
}

// Marks are the values to which a holder refers. A holder is the histories of a namespace with a
// folder of conversation files; several may share a blob store.
type Marks struct {
	Holder    string `json:"holder"`
	AgentName string `json:"agent_name"`
	// Began is the time at which the search for references began.
	Began time.Time `json:"began"`
	Sums  []string  `json:"sums"`
}

// Grace is how long a value is kept after it was stored last, and once more after it was put
// aside. It is far longer than the time between the storing of a value and the history event
// that refers to it.
const Grace = 24 * time.Hour
