package worker

import (
	"context"
	"log/slog"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/worker/accounts"
)

// PollInterval and WarnAutoRun are for tests without servers.
const PollInterval = pollInterval

var WarnAutoRun = warnAutoRun

// Servers returns the settings of tool servers for the toolbox.
func Servers(c *config.Config, getenv func(string) string) ([]toolbox.Server, error) {
	return servers(c, accounts.New(c, accounts.Parts{Getenv: getenv}), getenv)
}

// Models returns the entries of models for a router.
var Models = models

// Agents returns the agents that work is delegated to.
var Agents = agents

// CheckRules checks the rules of a configuration against tools until ctx ends, and returns what
// tells what is wrong.
func CheckRules(ctx context.Context, c *config.Config, s toolLister, logger *slog.Logger) (problems func() []string) {
	r := &ruleCheck{config: c, logger: logger}
	go r.run(ctx, s)
	return r.Problems
}

// JudgeAll has the approvals of a task queue judged by the rules of a version.
func JudgeAll(ctx context.Context, c approvalsOf, queue, policy string) (int, error) {
	return judging{client: c, queue: queue, policy: policy}.all(ctx)
}
