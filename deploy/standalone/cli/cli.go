package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"agent-stop-and-go/deploy/standalone/cli/login"
	"agent-stop-and-go/gateway/client"
)

// DefaultURL is the address of an agent with the settings that ship with it.
const DefaultURL = "http://127.0.0.1:8080"

// Flags are the flags of every command that talks to an agent.
type Flags struct {
	getenv func(string) string
	url    string
	key    string
	output string
	json   bool
	login  bool // the client sends the login of the user
}

// AddFlags adds the flags to a command and its subcommands.
func AddFlags(cmd *cobra.Command, getenv func(string) string) *Flags {
	f := &Flags{getenv: getenv}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.url, "url", "", "the `URL` of the agent (default $AGENT_URL, or "+DefaultURL+")")
	flags.StringVar(&f.key, "key", "", "the `key` to send as a bearer token (default $AGENT_KEY, which other users cannot see)")
	flags.StringVarP(&f.output, "output", "o", "text", "the `format`: text or json")
	flags.BoolVar(&f.json, "json", false, "the same as -o json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return f
}

// Client returns a client of the agent that the flags and the environment name.
func (f *Flags) Client() (*client.Client, error) { return f.ClientAt(DefaultURL) }

// ClientAt returns a client of the agent at an address, unless the flags or the environment name
// another.
func (f *Flags) ClientAt(address string) (*client.Client, error) {
	o := client.Options{Key: cmp.Or(f.key, f.getenv("AGENT_KEY"))}
	at := strings.TrimRight(cmp.Or(f.url, f.getenv("AGENT_URL"), address), "/")
	if store, err := login.NewStore(f.getenv); err == nil && o.Key == "" {
		_, err := store.Load(at)
		if f.login = err == nil; !errors.Is(err, login.ErrNone) {
			o.HTTP = store.Transport(at, http.DefaultTransport)
		}
	}
	c, err := client.New(at, o)
	if err != nil {
		return nil, &UsageError{err}
	}
	return c, nil
}

// decider returns who decides: the given name or, for a caller without a key, the user of this
// machine. A key proves a name of its own.
func (f *Flags) decider(given string) string {
	switch {
	case given != "":
		return given
	case f.login || f.key != "" || f.getenv("AGENT_KEY") != "":
		return ""
	}
	return f.getenv("USER")
}

// JSON reports whether the output is JSON.
func (f *Flags) JSON() (bool, error) {
	if !slices.Contains([]string{"text", "json"}, f.output) {
		return false, &UsageError{fmt.Errorf("--output %s: expected text or json", f.output)}
	}
	return f.json || f.output == "json", nil
}

// session is one run of a command.
type session struct {
	*client.Client
	flags *Flags
	in    io.Reader
	out   io.Writer
	err   io.Writer
	json  bool
	color bool
	// talks means that a person sees the output and can be asked.
	talks bool
}

// open returns the session of a command.
func (f *Flags) open(cmd *cobra.Command) (*session, error) {
	c, err := f.Client()
	if err != nil {
		return nil, err
	}
	asJSON, err := f.JSON()
	if err != nil {
		return nil, err
	}
	s := &session{Client: c, flags: f, in: cmd.InOrStdin(), out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), json: asJSON}
	s.color = IsTerminal(s.out) && f.getenv("NO_COLOR") == "" && f.getenv("TERM") != "dumb"
	s.talks = IsTerminal(s.in) && IsTerminal(s.out) && !asJSON
	return s, nil
}

// session returns what a command runs that needs a session.
func (f *Flags) session(run func(s *session, cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := f.open(cmd)
		if err != nil {
			return err
		}
		return run(s, cmd, args)
	}
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Commands returns the commands, which get their environment from getenv.
func Commands(getenv func(string) string) []*cobra.Command {
	return []*cobra.Command{newChat(getenv), newAsk(getenv), newApprovals(getenv), newConversations(getenv), newTools(getenv), newLogin(getenv), newLogout(getenv), newPause(getenv), newResume(getenv), newSwitches(getenv), newLimits(getenv), newDeputies(getenv), newGrants(getenv)}
}

// family returns a command that has only subcommands. Alone it prints its help.
func family(cmd *cobra.Command, members ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(members...)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unknown command %q; there are: %s", args[0], strings.Join(names(cmd), ", "))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}

func names(cmd *cobra.Command) (out []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			out = append(out, c.Name())
		}
	}
	return out
}

// arguments requires these arguments.
func arguments(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return fmt.Errorf("the argument %s is missing", names[len(args)])
		case len(args) > len(names):
			return fmt.Errorf("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}
