// Package process has what the mains of the project have in common: signals, exit codes, and the
// environment.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// ErrUsage means that the command line was wrong and the usage was printed.
var ErrUsage = errors.New("wrong usage")

// Signals returns a context that ends with SIGINT or SIGTERM. A second signal kills the
// process.
func Signals() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Exit ends the process: with 0 without an error, 2 for wrong usage, otherwise 1.
func Exit(name string, err error) {
	switch {
	case errors.Is(err, ErrUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}
