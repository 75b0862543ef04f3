package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"agent-stop-and-go/mcpservers/resources"
)

const usage = `mcp-resources stores named whole numbers and offers three MCP tools over them:
resources_add, resources_remove and resources_list.

Usage:
  mcp-resources [flags]            serve Streamable HTTP at http://HOST:PORT/mcp (and /health)
  mcp-resources --stdio [flags]    serve the program that started it, on stdin and stdout

Flags:
  --config FILE   YAML with host, port and db_path; flags win over it
  --db FILE       database file, created when missing       (default ./data/resources.db)
  --host HOST     address to listen on; 0.0.0.0 for every network  (default 127.0.0.1)
  --port PORT     port to listen on; 0 for any free one     (default 8090)
  --stdio         speak MCP on stdin and stdout, end when stdin does
  --help          this text

Environment:
  LOG_LEVEL       debug, info, warn or error (default info); the log goes to stderr

In an agent's YAML:
  mcp_servers:
    - {name: resources, command: mcp-resources, args: [--stdio, --db, ./data/resources.db]}
  or, for one that runs already:
    - {name: resources, url: "http://127.0.0.1:8090/mcp"}
`

type options struct {
	config      resources.Config
	stdio, help bool
}

// parseOptions joins defaults, config file and flags, later ones winning. For
// --help it prints the usage to stdout.
func parseOptions(args []string, stdout io.Writer) (options, error) {
	set := flag.NewFlagSet(resources.Name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	file := set.String("config", "", "")
	given := resources.Config{}
	set.StringVar(&given.DBPath, "db", "", "")
	set.StringVar(&given.Host, "host", "", "")
	set.IntVar(&given.Port, "port", 0, "")
	stdio := set.Bool("stdio", false, "")
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		_, err := io.WriteString(stdout, usage)
		return options{help: true}, err
	case err != nil:
		return options{}, fmt.Errorf("%w (see --help)", err)
	case set.NArg() > 0:
		return options{}, fmt.Errorf("unexpected argument %q (see --help)", set.Arg(0))
	}
	config, err := baseConfig(*file)
	if err != nil {
		return options{}, err
	}
	set.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "db":
			config.DBPath = given.DBPath
		case "host":
			config.Host = given.Host
		case "port":
			config.Port = given.Port
		}
	})
	return options{config: config, stdio: *stdio}, config.Validate()
}

func baseConfig(file string) (resources.Config, error) {
	if file == "" {
		return resources.DefaultConfig(), nil
	}
	return resources.LoadConfig(file)
}
