// Command agent runs everything in one process: a Temporal server with its Web UI, a worker and
// a gateway. `agent help` describes its commands and flags.
package main

import (
	"os"

	"agent-stop-and-go/config/command"
)

// version is set by the build.
var version = "dev"

func main() {
	ctx, stop := command.Signals()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	command.Exit("agent", err)
}
