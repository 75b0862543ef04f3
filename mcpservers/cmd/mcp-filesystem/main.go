// Command mcp-filesystem is a tool server for files below named folders. Run it with --help for
// its flags; package filesystem has the details.
package main

import (
	"context"
	"errors"

	"agent-stop-and-go/mcpservers/filesystem"
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/server"
)

// version is set by the build.
var version = "dev"

func main() {
	config := filesystem.DefaultConfig()
	hosting.Program{
		Name: filesystem.Name, Version: version, Usage: usage, Config: &config,
		Load:        func(path string) (err error) { config, err = filesystem.LoadConfig(path); return err },
		MissingFile: errors.New("--config is required: it names the roots (see --help)"),
		Serve:       func(ctx context.Context, options hosting.Options) error { return serve(ctx, config, options) },
	}.Main()
}

func serve(ctx context.Context, config filesystem.Config, options hosting.Options) (err error) {
	files, err := filesystem.New(config, options.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	options.Settings, options.Details = config.Settings, []any{"roots", len(config.Roots)}
	options.Open = true                             // images and the chart listen for a network that keeps others away
	options.MaxBody = 2*config.MaxWriteSize + 1<<20 // content is larger in JSON
	return hosting.Run(ctx, options, newServer(files))
}

// newServer does not declare hosting.WithIdempotency: keys are in memory, and a caller that repeats a call
// whose server was killed would append twice.
func newServer(files *filesystem.Server) *server.MCPServer {
	s := server.NewMCPServer(filesystem.Name, filesystem.Version,
		server.WithToolCapabilities(false),
		server.WithInstructions(filesystem.Instructions),
		server.WithStrictInputSchemaDefault(),
		server.WithRecovery(),
		server.WithResourceRecovery(),
	)
	files.Register(s)
	return s
}
