package hosting

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Configuration is a configuration that embeds [Settings]. Its Bind can add further flags.
type Configuration interface {
	Bind(set *flag.FlagSet)
	Validate() error
	OverStdio() bool
	Token(getenv func(string) string) (string, error)
}

// Program is the command of a tool server.
type Program struct {
	Name    string // of the server and of the program
	Version string // of the program
	Usage   string // text of --help
	Config  Configuration
	// Load fills Config from the file of --config, over the defaults.
	Load func(path string) error
	// MissingFile is the error if --config is missing; nil if the flag is optional.
	MissingFile error
	// Serve calls [Run]. It sets the Settings of options and adds its own options.
	Serve func(ctx context.Context, options Options) error
}

// Main runs the program. A signal ends it gracefully, a second signal immediately.
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if err := p.Run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, p.Name+":", err)
		os.Exit(1)
	}
}

// Run runs the program with explicit inputs and outputs. It returns nil when ctx ends, and in
// stdio mode at the end of stdin.
func (p Program) Run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) error {
	done, err := p.configure(args, stdout)
	if err != nil || done {
		return err
	}
	log, err := NewLogger(getenv, stderr, p.Config.OverStdio())
	if err != nil {
		return err
	}
	token, err := p.Config.Token(getenv)
	if err != nil {
		return err
	}
	return p.Serve(ctx, Options{Name: p.Name, Token: token, Log: log, Stdin: stdin, Stdout: stdout})
}

// configure combines defaults, config file and flags; later ones override earlier ones. For
// --help and --version it prints to stdout and returns done.
func (p Program) configure(args []string, stdout io.Writer) (done bool, err error) {
	file, version, err := p.parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err = io.WriteString(stdout, p.Usage)
		return true, err
	case err != nil:
		return false, err
	case version:
		_, err = fmt.Fprintln(stdout, p.Version)
		return true, err
	case file == "" && p.MissingFile != nil:
		return false, p.MissingFile
	case file != "":
		if err := p.Load(file); err != nil {
			return false, err
		}
		if _, _, err := p.parse(args); err != nil {
			return false, err
		}
	}
	return false, p.Config.Validate()
}

// parse applies the flags to Config.
func (p Program) parse(args []string) (file string, version bool, err error) {
	set := flag.NewFlagSet(p.Name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&file, "config", "", "")
	set.BoolVar(&version, "version", false, "")
	p.Config.Bind(set)
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return file, version, err
	case err != nil:
		return file, version, fmt.Errorf("%w (see --help)", err)
	case set.NArg() > 0:
		return file, version, fmt.Errorf("unexpected argument %q (see --help)", set.Arg(0))
	}
	return file, version, nil
}
