package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agent-stop-and-go/deploy/standalone/cli"
)

// usageError is an error of the command line of a command.
type usageError struct {
	cause   error
	command *cobra.Command
}

func (e *usageError) Error() string { return e.cause.Error() }

func (e *usageError) Unwrap() error { return e.cause }

// exitCode returns the exit code of the process that ends with this error.
func exitCode(err error) int {
	var usage *usageError
	if errors.As(err, &usage) {
		return cli.ExitUsage
	}
	if errors.Is(err, errBreaks) || errors.Is(err, errKept) || errors.Is(err, errNeeded) || errors.Is(err, errAudit) {
		return exitNo
	}
	return cli.ExitCode(err)
}

// printError prints an error, if there is one, and where to read more.
func printError(w io.Writer, err error) {
	if err == nil {
		return
	}
	fmt.Fprintf(w, "agent: %s\n", cli.Describe(err))
	var usage *usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(w, "Run '%s --help' for usage.\n", usage.command.CommandPath())
	}
}

// noArguments refuses arguments.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q", args[0])
	}
	return nil
}
