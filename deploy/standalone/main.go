// Command agent runs everything in one process: a Temporal server with its Web UI, a worker and
// a gateway. `agent help` describes its commands and flags.
package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"agent-stop-and-go/config/process"
	_ "agent-stop-and-go/deploy/stores" // blobs.url: s3://, gs:// and azblob://
)

// version is set by the build.
var version = "dev"

func main() {
	ctx, stop := process.Signals()
	err := run(ctx, os.Args[1:], process.WithFiles(os.Getenv, os.Stderr), os.Stdout, os.Stderr)
	stop()
	os.Exit(exitCode(err))
}

// run runs a command line and prints its error.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	root := newCommand(getenv)
	root.SetArgs(withDoubleDashes(args))
	root.SetOut(stdout)
	root.SetErr(stderr)
	understood := false
	root.PersistentPreRun = func(*cobra.Command, []string) { understood = true }
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !understood {
		err = &usageError{err, cmd}
	}
	printError(stderr, err)
	return err
}
