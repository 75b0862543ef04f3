// Command mcp-prompt is a tool server with the system prompt of an agent. Run it with --help for its
// flags; package prompt has the details.
package main

import (
	"context"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/prompt"
)

// version is set by the build.
var version = "dev"

func main() {
	config := prompt.DefaultConfig()
	hosting.Program{
		Name: prompt.Name, Version: version, Usage: usage, Config: &config,
		Load:  func(path string) (err error) { config, err = prompt.LoadConfig(path); return err },
		Serve: func(ctx context.Context, options hosting.Options) error { return serve(ctx, config, options) },
	}.Main()
}

func serve(ctx context.Context, config prompt.Config, options hosting.Options) error {
	if config.Create != "" {
		if err := prompt.Create(config.Directory, config.Create); err != nil {
			return err
		}
	}
	store, err := prompt.Open(ctx, config.Directory, prompt.Limits{Versions: config.Versions})
	if err != nil {
		return err
	}
	options.Settings, options.Details = config.Settings, []any{"directory", config.Directory}
	return hosting.Run(ctx, options, prompt.NewServer(store, options.Log))
}
