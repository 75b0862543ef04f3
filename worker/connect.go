package worker

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/worker/accounts"
	"agent-stop-and-go/workflows/contract"
)

// connectTime is how long Connect waits for slow servers.
const connectTime = 20 * time.Second

// Connect connects to the tool servers of a configuration as a worker does, starts those with a
// command, and ends them again. It returns a line for each that does not answer, unless it is
// optional or serves only authenticated callers, and for each conflict of tool names.
func Connect(ctx context.Context, c *config.Config, getenv func(string) string) ([]string, error) {
	own, err := accounts.Temporary(c, getenv)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	servers, err := servers(c, own, getenv)
	if err != nil {
		return nil, err
	}
	optional := map[string]bool{}
	for i, s := range servers {
		optional[s.Name], servers[i].Optional = s.Optional, false // here they are waited for
	}
	box := toolbox.New(toolbox.Options{
		Servers: servers, Logger: slog.New(slog.DiscardHandler), FirstWait: connectTime, ConnectTimeout: connectTime,
	})
	box.Tools(ctx)
	var out []string
	for i, s := range box.States() {
		if servers[i].Problem != "" { // the configuration reports these as Problems
			continue
		}
		if s.Error != "" && (s.Ready || !optional[s.Name] && s.Error != contract.ErrorAuthentication) {
			out = append(out, fmt.Sprintf("tool server %s: %s", s.Name, s.Error))
		}
	}
	return out, box.Close()
}
