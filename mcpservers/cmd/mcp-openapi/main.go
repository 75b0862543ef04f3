// Command mcp-openapi is a tool server for an API that has an OpenAPI document. Run it with --help for its
// flags; package openapi has the details.
package main

import (
	"context"
	"os"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/openapi"

	"github.com/mark3labs/mcp-go/server"
)

// version is set by the build.
var version = "dev"

func main() {
	config := openapi.DefaultConfig()
	hosting.Program{
		Name: openapi.Name, Version: version, Usage: usage, Config: &config,
		Load:  func(path string) (err error) { config, err = openapi.LoadConfig(path); return err },
		Serve: func(ctx context.Context, options hosting.Options) error { return serve(ctx, config, options) },
	}.Main()
}

func serve(ctx context.Context, config openapi.Config, options hosting.Options) error {
	o, err := openapi.New(ctx, config, os.Getenv, options.Log)
	if err != nil {
		return err
	}
	s := server.NewMCPServer(openapi.Name, openapi.Version,
		server.WithToolCapabilities(false), server.WithInstructions(o.Instructions()), server.WithStrictInputSchemaDefault(), server.WithRecovery())
	if err := o.Register(s); err != nil {
		return err
	}
	options.Settings, options.Details, options.MaxBody = config.Settings, o.Details(), 8<<20 // with files in base64
	return hosting.Run(ctx, options, s)
}
