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
` + hosting.FlagUsage + `  --help          this text

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

type options struct {
	config resources.Config
	help   bool
}

// parseOptions joins defaults, config file and flags, later ones winning. For
// --help it prints the usage to stdout.
func parseOptions(args []string, stdout io.Writer) (options, error) {
	config := resources.DefaultConfig()
	file, err := parseFlags(&config, args)
	if errors.Is(err, flag.ErrHelp) {
		_, err := io.WriteString(stdout, usage)
		return options{help: true}, err
	}
	if err == nil && file != "" {
		if config, err = resources.LoadConfig(file); err == nil {
			_, err = parseFlags(&config, args)
		}
	}
	if err != nil {
		return options{}, err
	}
	return options{config: config}, config.Validate()
}

// parseFlags changes what flags say in config and returns the name of the file
// that is to come before them.
func parseFlags(config *resources.Config, args []string) (file string, err error) {
	set := flag.NewFlagSet(resources.Name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&file, "config", "", "")
	set.StringVar(&config.DBPath, "db", config.DBPath, "")
	config.Settings.Bind(set)
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return "", err
	case err != nil:
		return "", fmt.Errorf("%w (see --help)", err)
	case set.NArg() > 0:
		return "", fmt.Errorf("unexpected argument %q (see --help)", set.Arg(0))
	}
	return file, nil
}
