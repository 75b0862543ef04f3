// Command mcp-web is a tool server that searches the web and reads pages. Run it with --help for its
// flags; package web has the details.
package main

import (
	"context"
	"os"
	"strings"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/web"

	"github.com/mark3labs/mcp-go/server"
)

// version is set by the build.
var version = "dev"

func main() {
	config := web.DefaultConfig()
	hosting.Program{
		Name: web.Name, Version: version, Usage: usage, Config: &config,
		Load:  func(path string) (err error) { config, err = web.LoadConfig(path); return err },
		Serve: func(ctx context.Context, options hosting.Options) error { return serve(ctx, config, options) },
	}.Main()
}

func serve(ctx context.Context, config web.Config, options hosting.Options) error {
	w, err := web.New(config, os.Getenv, options.Log)
	if err != nil {
		return err
	}
	s := server.NewMCPServer(web.Name, web.Version,
		server.WithToolCapabilities(false), server.WithInstructions(web.Instructions), server.WithStrictInputSchemaDefault(), server.WithRecovery())
	w.Register(s)
	options.Settings, options.Details = config.Settings, []any{"search", strings.Join(w.Providers(), ",")}
	return hosting.Run(ctx, options, s)
}
