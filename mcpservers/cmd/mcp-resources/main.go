// Command mcp-resources is a tool server that stores named whole numbers. Run it with --help
// for its flags; package resources has the details.
package main

import (
	"context"
	"errors"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/resources"
)

// version is set by the build.
var version = "dev"

func main() {
	config := resources.DefaultConfig()
	hosting.Program{
		Name: resources.Name, Version: version, Usage: usage, Config: &config,
		Load:  func(path string) (err error) { config, err = resources.LoadConfig(path); return err },
		Serve: func(ctx context.Context, options hosting.Options) error { return serve(ctx, config, options) },
	}.Main()
}

func serve(ctx context.Context, config resources.Config, options hosting.Options) (err error) {
	store, err := resources.Open(ctx, config.DBPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	sessions, err := hosting.OpenSessions(ctx, config.DBPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sessions.Close()) }()
	options.Settings, options.Sessions, options.Details = config.Settings, sessions, []any{"db", config.DBPath}
	options.Open = true // images and the chart listen for a network that keeps others away
	return hosting.Run(ctx, options, resources.NewServer(store, options.Log))
}
