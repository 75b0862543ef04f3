package worker

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/worker/calls"
	"agent-stop-and-go/worker/tasklog"
)

// tasksFile is the file of a process that has its directory to itself.
const tasksFile = "tasks.log"

// OpenTasks opens the log of the tasks that this process holds. alone means that no other
// process uses the directory. If the log cannot be written, OpenTasks logs a warning and
// returns nil: after a kill tasks then wait for their timeouts.
func OpenTasks(dir string, alone bool, logger *slog.Logger) *tasklog.Log {
	l, err := openTasks(dir, alone, logger)
	if err != nil {
		logger.Warn("tasks are not noted: after a kill they wait for their timeouts", "error", err)
		return nil
	}
	return l
}

func openTasks(dir string, alone bool, logger *slog.Logger) (*tasklog.Log, error) {
	if alone {
		return tasklog.Open(filepath.Join(dir, tasksFile), logger)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	return tasklog.Claim(dir, host, logger)
}

// NewCalls makes the table of the calls that this process makes. Its successor polls the same
// queue, and goes on with what a kill has left there. tasks is as in calls.New.
func NewCalls(taskQueue string, l *tasklog.Log, tasks *calls.WorkflowTasks) *calls.Table {
	return calls.New(taskQueue+"-"+l.ID(), tasks)
}

// giveBackTime limits how long a start waits for the server to take tasks back.
const giveBackTime = 10 * time.Second

// GiveBack gives the tasks of a killed process back, so that they do not wait for timeouts.
// Call it before the worker starts.
func GiveBack(ctx context.Context, l *tasklog.Log, c client.Client, namespace string, logger *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, giveBackTime)
	defer cancel()
	r, err := l.GiveBack(ctx, c.WorkflowService(), namespace)
	if err != nil {
		logger.Warn("not every task of the process before could be given back: the others wait for their timeouts", "error", err)
	}
	if r != (tasklog.Returned{}) {
		logger.Info("the process before ended in the middle of work, which goes on now", "workflows", r.Workflows, "activities", r.Activities)
	}
}
