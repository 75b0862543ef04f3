package wording

import (
	"fmt"
	"time"
)

// Causes, as parts of reasons of decisions and of failures.
const (
	CauseRequestWithdrawn  = "the request was withdrawn"
	CauseTurnCancelled     = "the turn was cancelled"
	CauseWorkflowCancelled = "the workflow was cancelled"
	CauseTimeUp            = "the time was up"
	CauseNoAnswer          = "no answer in time"
)

// CauseUndecided returns why an approval expired.
func CauseUndecided(timeout time.Duration) string {
	return fmt.Sprintf("nobody decided within %s", timeout)
}
