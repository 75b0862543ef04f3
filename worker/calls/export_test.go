package calls

import "time"

// SetTaskTime replaces the time after which a workflow task is not done again.
func (t *Table) SetTaskTime(d time.Duration) { t.taskTime = d }

// Kept counts the calls that are kept for a run.
func (t *Table) Kept(runID string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	calls, _ := t.recent.Peek(runID)
	return len(calls)
}
