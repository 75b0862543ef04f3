// Command mcp-drive is a tool server for the files of one folder: of Google Drive, of a bucket or of this
// machine. Run it with --help for its flags; package files has the details.
package main

import (
	"context"
	"errors"
	"os"

	"agent-stop-and-go/mcpservers/drive/files"
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/server"
)

// version is set by the build.
var version = "dev"

func main() {
	config := files.DefaultConfig()
	hosting.Program{
		Name: files.Name, Version: version, Usage: usage, Config: &config,
		Load:  func(path string) (err error) { config, err = files.LoadConfig(path); return err },
		Serve: func(ctx context.Context, options hosting.Options) error { return serve(ctx, config, options) },
	}.Main()
}

func serve(ctx context.Context, config files.Config, options hosting.Options) (err error) {
	s, err := files.New(ctx, config, os.Getenv, options.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	options.Settings, options.Details, options.Guard = config.Settings, s.Details(), s.Guard()
	options.MaxBody = 2*int64(config.MaxWrite) + 1<<20 // a content with its escapes
	return hosting.Run(ctx, options, newServer(s))
}

func newServer(s *files.Server) *server.MCPServer {
	options := []server.ServerOption{
		server.WithToolCapabilities(false),
		server.WithInstructions(s.Instructions()),
		server.WithStrictInputSchemaDefault(),
		server.WithRecovery(),
	}
	if s.RemembersKeys() {
		options = append(options, hosting.WithIdempotency())
	}
	m := server.NewMCPServer(files.Name, files.Version, options...)
	s.Register(m)
	return m
}
