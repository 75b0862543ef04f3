package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"agent-stop-and-go/activities/systemprompt"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/worker/accounts"
	"agent-stop-and-go/worker/adoption"
	"agent-stop-and-go/workflows/contract"
)

// connectTime is how long Connect waits for slow servers.
const connectTime = 20 * time.Second

// Connect connects to the tool servers of a configuration as a worker does, starts those with a
// command, and ends them again. It returns a line for each that does not answer, unless it is
// optional or serves only authenticated callers, and for each conflict of tool names.
func Connect(ctx context.Context, c *config.Config, getenv func(string) string) ([]string, error) {
	box, servers, end, err := connected(c, getenv)
	if err != nil {
		return nil, err
	}
	tools := box.Tools(ctx)
	optional := map[string]bool{}
	for _, s := range c.MCPServers {
		optional[s.Name] = s.Optional
	}
	var out []string
	for i, s := range box.States() {
		if servers[i].Problem != "" { // the configuration reports these as Problems
			continue
		}
		if s.Error != "" && (s.Ready || !optional[s.Name] && s.Error != contract.ErrorAuthentication) {
			out = append(out, fmt.Sprintf("tool server %s: %s", s.Name, s.Error))
		}
	}
	if len(out) == 0 { // else tools are missing that rules may be about
		for _, f := range c.CheckRules(ruleTools(c, tools)) {
			out = append(out, f.String())
		}
	}
	return out, end()
}

// Tools connects like Connect, and returns where the calls of all tools would go.
func Tools(ctx context.Context, c *config.Config, getenv func(string) string) (adoption.Tools, error) {
	box, servers, end, err := connected(c, getenv)
	if err != nil {
		return adoption.Tools{}, err
	}
	out := adoption.Tools{Servers: map[string]string{}, Targets: map[[2]string]contract.Binding{}}
	for _, t := range box.Tools(ctx) {
		target := t.Target()
		out.Targets[[2]string{t.Server, t.Name}] = contract.Binding{Address: target.Address, SHA256: target.Digest()}
	}
	for i, s := range box.States() {
		out.Servers[s.Name] = cmp.Or(servers[i].Problem, s.Error)
	}
	return out, end()
}

// ReadPrompt has the prompt of a configuration take over that of its tool server, if it is at one.
func ReadPrompt(ctx context.Context, c *config.Config, getenv func(string) string) error {
	if c.Prompt.Server == "" {
		return nil
	}
	one := *c
	one.MCPServers = slices.DeleteFunc(slices.Clone(c.MCPServers), func(s config.MCPServer) bool { return s.Name != c.Prompt.Server })
	box, _, end, err := connected(&one, getenv)
	if err != nil {
		return err
	}
	if err = c.Prompt.Take(systemprompt.Read(ctx, box, c.Prompt.Server)); err != nil {
		err = fmt.Errorf("read the prompt from the tool server %s: %w", c.Prompt.Server, err)
	}
	return errors.Join(err, end())
}

// Offered connects like Connect, and returns the tools and a line for each server that does not
// answer.
func Offered(ctx context.Context, c *config.Config, getenv func(string) string) (tools []toolbox.Tool, silent []string, err error) {
	box, _, end, err := connected(c, getenv)
	if err != nil {
		return nil, nil, err
	}
	tools = box.Tools(ctx)
	for _, s := range box.States() {
		if !s.Ready {
			silent = append(silent, fmt.Sprintf("tool server %s: %s", s.Name, s.Error))
		}
	}
	return tools, silent, end()
}

// connected returns a toolbox that waits for all servers of a configuration.
func connected(c *config.Config, getenv func(string) string) (box *toolbox.Toolbox, all []toolbox.Server, end func() error, err error) {
	own, err := accounts.Temporary(c, getenv)
	if err != nil {
		return nil, nil, nil, err
	}
	if all, err = servers(c, own, getenv); err != nil {
		own.Close()
		return nil, nil, nil, err
	}
	for i := range all {
		all[i].Optional = false // here they are waited for
	}
	box = toolbox.New(toolbox.Options{
		Servers: all, Logger: slog.New(slog.DiscardHandler), FirstWait: connectTime, ConnectTimeout: connectTime,
	})
	return box, all, func() error { defer own.Close(); return box.Close() }, nil
}
