package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/resources"
)

const usage = `mcp-resources stores named whole numbers and offers three MCP tools over them:
resources_add, resources_remove and resources_list. Each number is also an MCP
resource, resource://ID, and two prompts ask for a summary and for tidying up.

Usage:
  mcp-resources [flags]            serve Streamable HTTP at http://HOST:PORT/mcp (and /sse, /health)
  mcp-resources --stdio [flags]    serve the program that started it, on stdin and stdout

Flags:
  --config FILE   YAML with host, port, db_path and more; flags win over it
  --db FILE       database file, created when missing       (default ./data/resources.db)
  --port PORT     port to listen on; 0 for any free one     (default 8090)
` + hosting.FlagUsage + `  --version       print the version and stop
  --help          this text

In YAML the flags are host, port, db_path, transport, auth_token_env,
session_idle and the lists allowed_hosts and allowed_origins.

Environment:
  LOG_LEVEL       debug, info, warn or error (default info); the log goes to stderr

In an agent's YAML:
  mcp_servers:
    - {name: resources, command: mcp-resources, args: [--stdio, --db, ./data/resources.db]}
  or, for one that runs already:
    - {name: resources, url: "http://127.0.0.1:8090/mcp"}
`

// parseOptions joins defaults, config file and flags, later ones winning. For
// --help and --version it prints to stdout what was asked for, and is done.
func parseOptions(args []string, stdout io.Writer) (config resources.Config, done bool, err error) {
	config = resources.DefaultConfig()
	first, err := parseFlags(&config, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err := io.WriteString(stdout, usage)
		return config, true, err
	case err != nil:
		return config, false, err
	case first.version:
		_, err := fmt.Fprintln(stdout, version)
		return config, true, err
	}
	if first.file != "" {
		if config, err = resources.LoadConfig(first.file); err != nil {
			return config, false, err
		}
		if _, err = parseFlags(&config, args); err != nil {
			return config, false, err
		}
	}
	return config, false, config.Validate()
}

// flags are those that are no settings of the server.
type flags struct {
	file    string // comes before the other flags
	version bool
}

// parseFlags changes what flags say in config.
func parseFlags(config *resources.Config, args []string) (f flags, err error) {
	set := flag.NewFlagSet(resources.Name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.file, "config", "", "")
	set.BoolVar(&f.version, "version", false, "")
	set.StringVar(&config.DBPath, "db", config.DBPath, "")
	config.Settings.Bind(set)
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return f, err
	case err != nil:
		return f, fmt.Errorf("%w (see --help)", err)
	case set.NArg() > 0:
		return f, fmt.Errorf("unexpected argument %q (see --help)", set.Arg(0))
	}
	return f, nil
}
