// Command mcp-sql is a tool server for SQL databases. Run it with --help for its flags; package
// databases has the details.
package main

import (
	"context"
	"errors"
	"os"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/sql/databases"

	"github.com/mark3labs/mcp-go/server"
)

// version is set by the build.
var version = "dev"

func main() {
	config := databases.DefaultConfig()
	hosting.Program{
		Name: databases.Name, Version: version, Usage: usage, Config: &config,
		Load:  func(path string) (err error) { config, err = databases.LoadConfig(path); return err },
		Serve: func(ctx context.Context, options hosting.Options) error { return serve(ctx, config, options) },
	}.Main()
}

func serve(ctx context.Context, config databases.Config, options hosting.Options) (err error) {
	s, err := databases.New(ctx, config, os.Getenv, options.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	options.Settings, options.Details = config.Settings, []any{"databases", len(config.Databases)}
	options.MaxBody = 2*int64(config.MaxStatement) + 4<<20 // a statement with its values
	return hosting.Run(ctx, options, newServer(s))
}

func newServer(databaseServer *databases.Server) *server.MCPServer {
	options := []server.ServerOption{
		server.WithToolCapabilities(false),
		server.WithInstructions(databases.Instructions),
		server.WithStrictInputSchemaDefault(),
		server.WithRecovery(),
	}
	if databaseServer.RemembersKeys() {
		options = append(options, hosting.WithIdempotency())
	}
	s := server.NewMCPServer(databases.Name, databases.Version, options...)
	databaseServer.Register(s)
	return s
}
