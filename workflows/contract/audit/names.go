package audit

import (
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Registered names.
const (
	Workflow   = "Audit"
	WorkflowID = "audit"
	// TaskQueue is the task queue of the Audit, which those workers poll that have the key of the
	// log.
	TaskQueue = "agent-audit"

	// UpdateAppend takes Entries, waits until the first of them are durable, and returns the Head.
	// Then the others follow; after an error they do not.
	UpdateAppend = "append"
	SignalAppend = "record" // []Leaf
	QueryAudit   = "audit"  // a View
)

// The activities: ActivityAppend writes a batch, ActivityRecord says what happens to an approval.
var (
	ActivityAppend = contract.Activity[Batch, Head]{Name: "append_audit"}
	// ActivityCosign has the witnesses of the log that are reached by HTTP sign its newest checkpoint.
	ActivityCosign = contract.Activity[Head, []Witnessed]{Name: "cosign_audit"}
	ActivityRecord = contract.Activity[Record, Receipt]{Name: "record_audit"}
)

// Entries are leaves for the log.
type Entries struct {
	// Await are durable before the update ends, Then some time after.
	Await []Leaf `json:"await,omitempty"`
	Then  []Leaf `json:"then,omitempty"`
}

// Batch is the input of ActivityAppend.
type Batch struct {
	Leaves []Leaf `json:"leaves"`
	// After is the newest head that the workflow knows. A log without it has lost its tail or is
	// another one.
	After Head `json:"after,omitzero"`
}

// Head is the state of the log after an append.
type Head struct {
	Origin string `json:"origin,omitempty"`
	Size   int64  `json:"size"`           // leaves
	Root   string `json:"root,omitempty"` // base64
	// Witness is why the witness has not countersigned the head, or "".
	Witness string `json:"witness,omitempty"`
	// Unsigned is the number of witnesses, of those that are reached by HTTP, that are to sign the head yet.
	Unsigned int `json:"unsigned,omitempty"`
	// Signed are the names of those that have, divided by spaces, if calls wait for them.
	Signed string `json:"signed,omitempty"`
}

// Witnessed is what a witness has signed that is reached by HTTP.
type Witnessed struct {
	Name string `json:"name"` // of its key
	Size int64  `json:"size"` // leaves
	// Problem is why it has not signed the newest checkpoint, or "".
	Problem string `json:"problem,omitempty"`
	// Since is since when it has failed to; zero if it has not.
	Since time.Time `json:"since,omitzero"`
}

// Unsigned is in the details of the failure of a batch that too few witnesses have signed.
type Unsigned struct {
	Witnesses []Witnessed `json:"witnesses"`
}

// Record is the input of ActivityRecord: an approval when it opens, and again with its result.
type Record struct {
	Approval contract.ApprovalInput   `json:"approval"`
	Result   *contract.ApprovalResult `json:"result,omitempty"`
	// Recorded: the log has what was shown.
	Recorded bool `json:"recorded,omitempty"`
}

// Receipt is the result of ActivityRecord.
type Receipt struct {
	Head Head `json:"head,omitzero"`
}

// Input is the input of the Audit, and what its next run continues with.
type Input struct {
	Head  Head   `json:"head,omitzero"`
	Queue []Leaf `json:"queue,omitempty"`
	// Recent are the IDs of leaves that are durable, oldest first.
	Recent []string `json:"recent,omitempty"`
	// States are the last policies and keys, by Leaf.State.
	States map[string]string `json:"states,omitempty"`
	// Witnesses are what they have signed.
	Witnesses []Witnessed `json:"witnesses,omitempty"`
}

// View is what the query of the Audit returns.
type View struct {
	Head    Head      `json:"head"`
	Queued  int       `json:"queued"`
	Problem string    `json:"problem,omitempty"` // why the log cannot be written
	Since   time.Time `json:"since,omitzero"`    // of the problem
	// Witnesses are what those have signed that are reached by HTTP.
	Witnesses []Witnessed `json:"witnesses,omitempty"`
}

// Bounds.
const (
	MaxBatch  = 256  // leaves that are written at once
	MaxQueue  = 2000 // leaves that wait; an update for more is refused
	MaxRecent = 1000
	MaxStates = 200
)

// Hold is in the details of the failure of a call that waits for the log, of kind contract.KindPaused.
type Hold struct {
	// Unrecorded: the call goes on when the log can be written; no switch holds it.
	Unrecorded bool `json:"unrecorded"`
}

// Unsent is in the details of the failure of a call that ended before it was recorded or sent.
type Unsent struct {
	Unsent bool `json:"unsent"`
}

// KindBusy and KindUnwritten are the kinds of an update that fails: too much waits, or the log
// cannot be written.
const (
	KindBusy      = contract.KindBusy
	KindUnwritten = contract.Kind("audit_unwritten")
)
