package gateway

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
)

// pollTime is longer than a poll. Who waits for tasks has begun to since.
const pollTime = 70 * time.Second

// Attended implements Worker.
func (t *temporalBackend) Attended(ctx context.Context) (bool, error) {
	d, err := t.client.DescribeTaskQueue(ctx, t.taskQueue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return false, fault(err, "ask who polls")
	}
	for _, p := range d.GetPollers() {
		if t.now().Sub(p.GetLastAccessTime().AsTime()) < pollTime && !isDead(p.GetIdentity()) {
			return true, nil
		}
	}
	return false, nil
}

// isDead reports whether a poller is known to be dead, which the server does not notice when
// a process is killed: the SDK's identity, PID@HOST@, is of a process of this host that is not
// there any more.
func isDead(identity string) bool {
	pid, rest, _ := strings.Cut(identity, "@")
	host, _, _ := strings.Cut(rest, "@")
	number, err := strconv.Atoi(pid)
	if err != nil || number <= 0 {
		return false
	}
	if own, err := os.Hostname(); err != nil || own != host {
		return false
	}
	return errors.Is(syscall.Kill(number, 0), syscall.ESRCH)
}
