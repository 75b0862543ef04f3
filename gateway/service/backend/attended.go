package backend

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
)

// pollTime is longer than a poll of a worker. A worker that still runs has polled again
// within it.
const pollTime = 70 * time.Second

// Attended implements Worker.
func (t *Temporal) Attended(ctx context.Context) (bool, error) {
	d, err := t.client.DescribeTaskQueue(ctx, t.taskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return false, fault(err, "ask who polls")
	}
	for _, p := range d.GetPollers() {
		if t.now().Sub(p.GetLastAccessTime().AsTime()) < pollTime && !t.isDead(p.GetIdentity()) {
			return true, nil
		}
	}
	return false, nil
}
